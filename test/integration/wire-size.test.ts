import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { content } from '../support/content.js';
import { getFrom, openLocalServer } from '../support/local-server.js';
import { withTempFolder } from '../support/temp-folder.js';

const SIZE = 8 * 1024 * 1024;

/** Bytes on the wire for one transfer of `bytes`, as either side counts them. */
async function onTheWire(bytes: Buffer, codec: string, chunkSize: number) {
  return withTempFolder(async (folder) => {
    const file = join(folder, 'served');
    await writeFile(file, bytes);
    const server = await openLocalServer(file, { codec, chunkSize, until: 1 });
    const { result, bytesOnWire } = await getFrom(server.port, '/dev/null');
    expect(result).toBe('PASS');
    const summary = await server.finished;
    // What closes a connection may be counted by one side alone.
    expect(Math.abs(summary.bytesOnWire - bytesOnWire)).toBeLessThan(1024);
    return bytesOnWire;
  });
}

describe('what a transfer costs on the wire', () => {
  test.each([64, 256, 1024])('is at most an eighth of log text with lz4 (chunks of %d KiB)', async (kib) => {
    expect(await onTheWire(content('log', SIZE), 'lz4', kib * 1024)).toBeLessThanOrEqual(SIZE / 8);
  });

  test.each([
    ['none', 256],
    ['lz4', 64],
    ['lz4', 256],
    ['deflate', 256],
    ['auto', 256],
  ])('is at most 0.1 %% more than random data with %s (chunks of %d KiB)', async (codec, kib) => {
    const bytes = await onTheWire(content('random', SIZE), codec, kib * 1024);
    expect(bytes).toBeLessThanOrEqual(SIZE * 1.001);
    expect(bytes).toBeGreaterThan(SIZE);
  });
});
