import { open, readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { BackgroundFlush } from '#dist/core/sink/background-flush.js';
import { writeAll } from '#dist/core/sink/write-all.js';
import { content } from '../../../support/content.js';
import { runModule } from '../../../support/run-module.js';
import { withTempFolder } from '../../../support/temp-folder.js';

const BYTES = content('random', 10_000);
const onLinux = process.platform === 'linux' ? test : test.skip;

function pieces(sizes: readonly number[]): Uint8Array[] {
  let start = 0;
  return sizes.map((size) => {
    start += size;
    return BYTES.subarray(start - size, start);
  });
}

test('every byte is written, however few the system takes at a time', async () => {
  for (const most of [1, 2, 3, 7, 100, 9999]) {
    const file = Buffer.alloc(BYTES.length + 5);
    const writev = async (spans: readonly NodeJS.ArrayBufferView[], position = 0) => {
      const bytes = Buffer.concat(spans as Uint8Array[]).subarray(0, most);
      file.set(bytes, position ?? 0);
      return { bytesWritten: bytes.length, buffers: [] };
    };
    await writeAll({ writev } as never, pieces([0, 1, 2, 0, 3, 4000, 5994, 0]), 5);
    expect(file.subarray(5).equals(BYTES)).toBe(true);
  }
});

test('a write that takes nothing is a lack of room, not an endless loop', async () => {
  const writev = async () => ({ bytesWritten: 0, buffers: [] });
  await expect(writeAll({ writev } as never, [BYTES], 0)).rejects.toMatchObject({ code: 'ENOSPC' });
});

test('more spans than one system call takes, and offsets beyond 4 GiB, are written', async () => {
  await withTempFolder(async (folder) => {
    const path = join(folder, 'x');
    const handle = await open(path, 'w+');
    try {
      await writeAll(handle, pieces(Array.from({ length: 2500 }, () => 4)), 0);
      expect((await readFile(path)).equals(BYTES)).toBe(true);
      await writeAll(handle, [BYTES], 5 * 2 ** 30 + 1);
      const { buffer } = await handle.read(Buffer.alloc(BYTES.length), 0, BYTES.length, 5 * 2 ** 30 + 1);
      expect(buffer.equals(BYTES)).toBe(true);
    } finally {
      await handle.close();
      await rm(path);
    }
  });
});

onLinux('a limit that cuts a write short is told with path, byte and system code', async () => {
  await withTempFolder(async (folder) => {
    const code = `
      import { openFileSink } from '#dist/core/sink/file-sink.js';
      const sink = await openFileSink(process.argv[1], { size: 400000, force: false });
      const spans = Array.from({ length: 4 }, () => Buffer.alloc(50000, 1));
      await sink.write(spans, 0).catch((error) => console.log(error.code, error.message));
      await sink.discard();
    `;
    const target = join(folder, 'x');
    const { stdout } = await runModule(code, [target], ['prlimit', '--fsize=100001']).finished;
    expect(stdout).toBe(
      `SINK_FAILED cannot write byte 0 of 400000 to ${target}.wirebound: file too large (EFBIG)\n`,
    );
    expect((await stat(`${target}.wirebound`)).size).toBe(100_001);
  });
});

test('files are flushed as they are written, once at a time', async () => {
  const running: (() => void)[] = [];
  const flush = new BackgroundFlush({ datasync: () => new Promise((resolve) => running.push(resolve)) });
  const mib = 2 ** 20;
  flush.wrote(63 * mib);
  expect(running).toHaveLength(0);
  flush.wrote(mib);
  flush.wrote(100 * mib);
  expect(running).toHaveLength(1);
  running[0]?.();
  await flush.settle();
  flush.wrote(1);
  expect(running).toHaveLength(2);
  running[1]?.();
  await flush.settle();
});

test('a flush that failed fails every later write and the end', async () => {
  const error = Object.assign(new Error('EIO'), { code: 'EIO' });
  const flush = new BackgroundFlush({ datasync: () => Promise.reject(error) });
  flush.wrote(2 ** 26);
  await expect(flush.settle()).rejects.toBe(error);
  expect(() => flush.wrote(1)).toThrow(error);
  await expect(flush.settle()).rejects.toBe(error);
});

test('a file system that cannot flush is left to itself', async () => {
  const flush = new BackgroundFlush({
    datasync: () => Promise.reject(Object.assign(new Error(), { code: 'EINVAL' })),
  });
  flush.wrote(2 ** 26);
  await flush.settle();
  flush.wrote(1);
});
