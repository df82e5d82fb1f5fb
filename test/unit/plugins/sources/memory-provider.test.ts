import { appendFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { expect, test } from '@jest/globals';
import { WireBoundError } from '#dist/core/errors.js';
import { SEGMENT_SIZE } from '#dist/plugins/sources/memory-content.js';
import { createMemoryProvider } from '#dist/plugins/sources/memory-provider.js';
import { withTempFolder } from '../../../support/temp-folder.js';

const MIB = 2 ** 20;
const piped = (stream: Readable) => createMemoryProvider({ stdin: () => stream });

test('standard input is called stdin, or what it was asked to be called', async () => {
  expect((await piped(Readable.from([])).open('-', { memoryLimit: 1 })).name).toBe('stdin');
  expect((await piped(Readable.from([])).open('-', { memoryLimit: 1, name: 'a' })).name).toBe('a');
});

test('content exactly as large as the limit is taken, one byte more is SOURCE_TOO_LARGE and stops the producer', async () => {
  let produced = 0;
  const endless = Readable.from(
    (function* () {
      for (;;) {
        produced += MIB;
        yield Buffer.alloc(MIB);
      }
    })(),
  );
  await expect(piped(endless).open('-', { memoryLimit: 5 * MIB })).rejects.toMatchObject({
    code: 'SOURCE_TOO_LARGE',
    message: `standard input is larger than the ${5 * MIB} bytes of memory it may take`,
    suggestions: [expect.stringContaining('--memory')],
  });
  expect(endless.destroyed).toBe(true);
  expect(produced).toBeLessThan(64 * MIB);
  const fitting = Readable.from([Buffer.alloc(3 * MIB), Buffer.alloc(2 * MIB)]);
  expect((await piped(fitting).open('-', { memoryLimit: 5 * MIB })).size).toBe(5 * MIB);
});

test('progress tells the bytes so far', async () => {
  const seen: number[] = [];
  const stream = Readable.from([Buffer.alloc(10), Buffer.alloc(5)]);
  await piped(stream).open('-', { memoryLimit: 100, onProgress: (bytes) => seen.push(bytes) });
  expect(seen).toEqual([10, 15]);
});

test('an abort ends the wait for standard input with the reason of the abort', async () => {
  const stream = new Readable({ read() {} });
  const controller = new AbortController();
  const reason = new WireBoundError('TERMINATED', 'stopped by SIGTERM');
  const opening = piped(stream).open('-', { memoryLimit: 1, signal: controller.signal });
  controller.abort(reason);
  await expect(opening).rejects.toBe(reason);
  expect(stream.destroyed).toBe(true);
  await expect(
    piped(Readable.from([])).open('-', { memoryLimit: 1, signal: AbortSignal.abort() }),
  ).rejects.toMatchObject({ code: 'INTERRUPTED' });
});

test('a terminal is not waited for', async () => {
  const terminal = Object.assign(new Readable({ read() {} }), { isTTY: true });
  await expect(piped(terminal).open('-', { memoryLimit: 1 })).rejects.toMatchObject({ code: 'USAGE' });
});

test('standard input that breaks is SOURCE_UNREADABLE', async () => {
  const stream = new Readable({ read: () => stream.destroy(new Error('EIO: i/o error')) });
  await expect(piped(stream).open('-', { memoryLimit: 1 })).rejects.toMatchObject({
    code: 'SOURCE_UNREADABLE',
    message: 'standard input failed after 0 bytes (EIO: i/o error)',
  });
});

test('spans that cross a segment are read but not lent', async () => {
  const content = Buffer.alloc(2 * SEGMENT_SIZE + 10, Buffer.from([1, 2, 3, 4, 5, 6, 7]));
  const source = await piped(Readable.from([content])).open('-', { memoryLimit: 64 * MIB });
  expect(await source.lend?.(SEGMENT_SIZE - 1, 2)).toBeUndefined();
  const loan = await source.lend?.(SEGMENT_SIZE, SEGMENT_SIZE);
  expect(loan?.bytes.length).toBe(SEGMENT_SIZE);
  const into = Buffer.alloc(content.length);
  expect(await source.read(0, into)).toBe(content.length);
  expect(into.equals(content)).toBe(true);
});

test('a file over the limit is refused with both sizes before it is read', () =>
  withTempFolder(async (folder) => {
    const path = join(folder, 'f');
    await writeFile(path, 'content');
    const opening = createMemoryProvider().open(path, { memoryLimit: 6 });
    await expect(opening).rejects.toMatchObject({
      code: 'SOURCE_TOO_LARGE',
      message: `${JSON.stringify(path)}, 7 bytes, is larger than the 6 bytes of memory it may take`,
    });
  }));

test('a file that changes while it is taken in is SOURCE_CHANGED', () =>
  withTempFolder(async (folder) => {
    const path = join(folder, 'f');
    await writeFile(path, Buffer.alloc(9 * MIB));
    const opening = createMemoryProvider().open(path, {
      memoryLimit: 64 * MIB,
      onProgress: () => appendFileSync(path, 'x'),
    });
    await expect(opening).rejects.toMatchObject({ code: 'SOURCE_CHANGED' });
  }));
