import {
  appendFile,
  chmod,
  link,
  mkdir,
  readdir,
  readFile,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { type FileSink, type FileSinkOptions, openFileSink } from '#dist/core/sink/file-sink.js';
import { content } from '../../../support/content.js';
import { makeTempFolder } from '../../../support/temp-folder.js';

const BYTES = content('random', 300_000);
const SIZE = BYTES.length;

let folder: Awaited<ReturnType<typeof makeTempFolder>>;
let target: string;
let sinks: FileSink[];
beforeEach(async () => {
  folder = await makeTempFolder();
  target = join(folder.path, 'build.iso');
  sinks = [];
});
afterEach(async () => {
  for (const sink of sinks) await sink.discard();
  await folder.remove();
});

async function openSink(options: Partial<FileSinkOptions> = {}, path = target): Promise<FileSink> {
  const sink = await openFileSink(path, { size: SIZE, force: false, ...options });
  sinks.push(sink);
  return sink;
}

async function received(options: Partial<FileSinkOptions> = {}, path = target): Promise<FileSink> {
  const sink = await openSink(options, path);
  await sink.write([BYTES.subarray(0, 100), BYTES.subarray(100, 200_000)], 0);
  await sink.write([BYTES.subarray(200_000)], 200_000);
  return sink;
}

describe('commit', () => {
  test('makes the file appear complete, alone, and only then', async () => {
    const sink = await received();
    expect(await readdir(folder.path)).toEqual(['build.iso.wirebound']);
    await sink.commit();
    await sink.commit();
    await sink.discard();
    expect(await readdir(folder.path)).toEqual(['build.iso']);
    expect(BYTES.equals(await readFile(target))).toBe(true);
    expect(sink).toMatchObject({ location: target, partialPath: `${target}.wirebound` });
  });

  test('takes spans of shared memory and empty ones', async () => {
    const shared = new Uint8Array(new SharedArrayBuffer(SIZE));
    shared.set(BYTES);
    const sink = await openSink();
    await sink.write([new Uint8Array(), shared.subarray(0, 7), new Uint8Array(), shared.subarray(7)], 0);
    await sink.write([], SIZE);
    await sink.commit();
    expect(BYTES.equals(await readFile(target))).toBe(true);
  });

  test('publishes an empty file', async () => {
    await (await openSink({ size: 0 })).commit();
    expect(await readFile(target)).toHaveLength(0);
  });

  test('gives the file its time, and execution to whoever may read it', async () => {
    const mtimeMs = Date.UTC(2001, 2, 3, 4, 5, 6);
    await (await received({ mtimeMs, executable: true })).commit();
    const facts = await stat(target);
    expect(facts.mtimeMs).toBe(mtimeMs);
    expect(facts.mode & 0o7777).toBe(0o777 & ~process.umask());
  });

  test('sets neither time nor execution unasked, and never set-user-id', async () => {
    await writeFile(`${target}.wirebound`, 'old', { mode: 0o666 });
    const sink = await received();
    await chmod(sink.partialPath, 0o6755);
    const before = Date.now();
    await sink.commit();
    const facts = await stat(target);
    expect(facts.mode & 0o7777).toBe(0o644);
    expect(Math.abs(facts.mtimeMs - before)).toBeLessThan(60_000);
  });

  test('does not replace a file that appeared in the meantime; the bytes stay in the partial', async () => {
    const sink = await received();
    await writeFile(target, 'theirs');
    await expect(sink.commit()).rejects.toMatchObject({
      code: 'SINK_EXISTS',
      message: `${target} already exists`,
    });
    await sink.discard();
    expect(await readFile(target, 'utf8')).toBe('theirs');
    expect(BYTES.equals(await readFile(sink.partialPath))).toBe(true);
  });

  test('with force replaces a file, a dangling link, and one name of a linked file, and touches nothing else', async () => {
    const victim = join(folder.path, 'victim');
    await writeFile(victim, 'victim');
    const plants = [
      () => writeFile(target, 'old'),
      () => symlink('/nope', target),
      () => link(victim, target),
    ];
    for (const plant of [...plants, () => symlink('victim', target)]) {
      await plant();
      await (await received({ force: true })).commit();
      expect(BYTES.equals(await readFile(target))).toBe(true);
      expect(await readFile(victim, 'utf8')).toBe('victim');
      expect((await readdir(folder.path)).sort()).toEqual(['build.iso', 'victim']);
      await rm(target);
    }
  });

  test('never publishes what somebody put in the place of the partial', async () => {
    const sink = await received();
    await rm(sink.partialPath);
    await writeFile(sink.partialPath, 'not verified');
    await expect(sink.commit()).rejects.toMatchObject({ code: 'SINK_FAILED' });
    expect(await readdir(folder.path)).toEqual(['build.iso.wirebound']);
  });

  test('refuses a file that is not complete', async () => {
    const sink = await openSink();
    await sink.write([BYTES.subarray(0, 100)], 0);
    await expect(sink.commit()).rejects.toMatchObject({ code: 'INTERNAL' });
    await expect(sink.write([BYTES], 200)).rejects.toMatchObject({ code: 'INTERNAL' });
    expect(await readdir(folder.path)).toEqual(['build.iso.wirebound']);
  });

  test('cuts off what grew behind the last byte', async () => {
    const sink = await received();
    await appendFile(sink.partialPath, 'junk');
    await sink.commit();
    expect(BYTES.equals(await readFile(target))).toBe(true);
  });
});

describe('discard', () => {
  test('keeps what was received and leaves an existing file as it was, even with force', async () => {
    await writeFile(target, 'old');
    const before = await stat(target);
    const sink = await received({ force: true });
    await sink.discard();
    await sink.discard();
    expect(await readFile(target, 'utf8')).toBe('old');
    expect((await stat(target)).mtimeMs).toBe(before.mtimeMs);
    expect(BYTES.equals(await readFile(sink.partialPath))).toBe(true);
    await expect(sink.commit()).rejects.toMatchObject({ code: 'INTERNAL' });
    await expect(sink.write([BYTES], SIZE)).rejects.toMatchObject({ code: 'INTERNAL' });
  });

  test('leaves nothing when nothing was received', async () => {
    await (await openSink()).discard();
    expect(await readdir(folder.path)).toEqual([]);
  });

  test('waits for a write that is under way', async () => {
    const sink = await openSink();
    const writing = sink.write([BYTES], 0);
    await sink.discard();
    await writing;
    expect(BYTES.equals(await readFile(sink.partialPath))).toBe(true);
  });
});

describe('an earlier partial', () => {
  test('can be read, is kept as far as it is good, and continued', async () => {
    await writeFile(`${target}.wirebound`, Buffer.concat([BYTES.subarray(0, 1000), Buffer.alloc(SIZE)]));
    const sink = await openSink();
    expect(sink.partialSize).toBe(1000 + SIZE);
    const found = new Uint8Array(new SharedArrayBuffer(600));
    expect(await sink.readPartial(400, found)).toBe(600);
    expect(BYTES.subarray(400, 1000).equals(found)).toBe(true);
    expect(await sink.readPartial(SIZE + 990, found)).toBe(10);
    expect(await sink.readPartial(SIZE + 1000, found)).toBe(0);
    await sink.keep(1000);
    await sink.write([BYTES.subarray(1000)], 1000);
    await sink.commit();
    expect(BYTES.equals(await readFile(target))).toBe(true);
  });

  test('leaves no trace in the file when nothing of it is kept', async () => {
    await writeFile(`${target}.wirebound`, Buffer.alloc(2 * SIZE, 1));
    await (await received()).commit();
    expect(BYTES.equals(await readFile(target))).toBe(true);
  });

  test('cannot be kept beyond its end', async () => {
    await expect((await openSink()).keep(1)).rejects.toMatchObject({ code: 'INTERNAL' });
  });
});

describe('opening', () => {
  test('refuses an existing target without force and leaves nothing behind', async () => {
    await writeFile(target, 'old');
    await expect(openSink()).rejects.toMatchObject({ code: 'SINK_EXISTS' });
    expect(await readdir(folder.path)).toEqual(['build.iso']);
  });

  test('refuses more than there is room for before the first byte, naming both numbers', async () => {
    const message = expect.stringMatching(
      /^not enough room in \S+: 9007199254740991 bytes are needed, \d+ are available$/,
    );
    const opening = openSink({ size: Number.MAX_SAFE_INTEGER });
    await expect(opening).rejects.toMatchObject({ code: 'SINK_FULL', message });
    expect(await readdir(folder.path)).toEqual([]);
  });

  test('tells which folder is missing', async () => {
    const opening = openSink({}, join(folder.path, 'nope/x'));
    await expect(opening).rejects.toMatchObject({
      code: 'SINK_FAILED',
      message: expect.stringContaining('nope/x'),
    });
  });

  test.each(['a'.repeat(255), `${'é'.repeat(127)}a`, `${'漢'.repeat(84)}abc`])(
    'a name of 255 bytes is saved exactly (%#)',
    async (name) => {
      const path = join(folder.path, name);
      await (await received({}, path)).discard();
      const sink = await openSink({}, path);
      expect(sink.partialSize).toBe(SIZE);
      await sink.keep(SIZE);
      await sink.commit();
      expect(await readdir(folder.path)).toEqual([name]);
    },
  );

  test('names that differ only in Unicode normalisation or case stay two files', async () => {
    for (const name of ['a\u0302.txt', '\u00e2.txt', 'A.txt', 'a.txt']) {
      await (await received({}, join(folder.path, name))).commit();
    }
    expect((await readdir(folder.path)).sort()).toEqual(
      ['A.txt', 'a.txt', 'a\u0302.txt', '\u00e2.txt'].sort(),
    );
  });

  test('keeps to the folder: the partial of a file in a folder lies in that folder', async () => {
    await mkdir(join(folder.path, 'sub'));
    const sink = await openSink({}, join(folder.path, 'sub/x'));
    expect(sink.partialPath).toBe(join(folder.path, 'sub/x.wirebound'));
  });
});
