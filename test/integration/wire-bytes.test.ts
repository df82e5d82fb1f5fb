import { truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { content } from '../support/content.js';
import { withTempFolder } from '../support/temp-folder.js';
import { openTestServer, testGet } from '../support/test-server.js';

const CHUNK = 256 * 1024;
const MIB = 2 ** 20;

test.each([
  ['random bytes', () => content('random', 10 * MIB), 0, 40],
  ['half random bytes, half zeros, chunk by chunk', () => alternating(40), 20, 20],
  ['a hundred bytes', () => content('random', 100), 0, 1],
])(
  'with lz4, %s cost no more on the wire than raw, and only what shrinks is encoded (B23)',
  async (_, make, encoded, raw) => {
    await withTempFolder(async (folder) => {
      const source = join(folder, 'file.bin');
      const bytes = make();
      await writeFile(source, bytes);
      const server = await openTestServer(source, { codec: 'lz4', chunkSize: CHUNK });
      const result = await testGet(server.port);
      const summary = await server.stop();
      expect(result).toMatchObject({ result: 'PASS' });
      expect(result.bytesOnWire).toBeLessThanOrEqual(bytes.length + 44 * (encoded + raw) + 4096);
      expect(summary.chunksEncoded + summary.chunksRaw).toBe(encoded + raw);
      // After random chunks the encoder is tried less often: it may miss some, it must not find more.
      expect(summary.chunksEncoded).toBeLessThanOrEqual(encoded);
      expect(summary.chunksEncoded).toBeGreaterThanOrEqual(Math.floor(encoded / 4));
    });
  },
);

test('a sparse file costs little on the wire with lz4, and little memory (B84)', async () => {
  await withTempFolder(async (folder) => {
    const source = join(folder, 'sparse.bin');
    await writeFile(source, 'X');
    await truncate(source, 300 * MIB);
    const server = await openTestServer(source, { codec: 'lz4', chunkSize: MIB });
    const before = process.memoryUsage().arrayBuffers;
    const result = await testGet(server.port);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(150 * MIB);
    await server.stop();
    expect(result).toMatchObject({ result: 'PASS', bytes: 300 * MIB });
    expect(result.bytesOnWire).toBeLessThan(20 * MIB);
  });
});

function alternating(chunks: number): Buffer {
  const zeros = Buffer.alloc(CHUNK);
  return Buffer.concat(
    Array.from({ length: chunks }, (_, index) => (index % 2 === 0 ? content('random', CHUNK, index) : zeros)),
  );
}

test.each([64, 256, 1024])('log text costs at most an eighth with lz4 (chunks of %d KiB)', async (kib) => {
  const bytes = content('log', 8 * MIB);
  expect(await bytesOnWire(bytes, 'lz4', kib)).toBeLessThanOrEqual(bytes.length / 8);
});

test.each([
  ['none', 256],
  ['lz4', 64],
  ['deflate', 256],
])('random bytes cost at most 0.1 %% more with %s (chunks of %d KiB)', async (codec, kib) => {
  const bytes = content('random', 8 * MIB);
  expect(await bytesOnWire(bytes, codec, kib)).toBeLessThanOrEqual(bytes.length * 1.001);
});

/** What one transfer costs, as both sides count it. */
async function bytesOnWire(bytes: Buffer, codec: string, kib: number): Promise<number> {
  return withTempFolder(async (folder) => {
    const source = join(folder, 'file.bin');
    await writeFile(source, bytes);
    const server = await openTestServer(source, { codec, chunkSize: kib * 1024 });
    const received = await testGet(server.port);
    const sent = await server.stop();
    expect(received).toMatchObject({ result: 'PASS' });
    // What ends a connection may be counted by one side alone.
    expect(Math.abs(sent.bytesOnWire - received.bytesOnWire)).toBeLessThan(1024);
    return received.bytesOnWire;
  });
}
