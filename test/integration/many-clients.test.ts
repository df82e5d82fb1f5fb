import { createHash } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { content } from '../support/content.js';
import { getFrom, openLocalServer } from '../support/local-server.js';
import { makeTempFolder } from '../support/temp-folder.js';

const CODECS = ['none', 'lz4', 'deflate'];
const SOURCES = ['mmap', 'file', 'memory'];
const WAYS = CODECS.flatMap((codec) => SOURCES.map((source) => ({ codec, source })));

let folder: Awaited<ReturnType<typeof makeTempFolder>>;
beforeAll(async () => {
  folder = await makeTempFolder();
});
afterAll(() => folder.remove());

describe('eight clients at once', () => {
  const SIZE = 5 * 1024 * 1024 + 7;
  /** Half text, half noise: a codec has chunks that shrink and chunks that do not. */
  const bytes = Buffer.concat([content('log', SIZE >> 1), content('random', SIZE - (SIZE >> 1))]);
  const sha256 = createHash('sha256').update(bytes).digest('hex');

  test.each(WAYS)('all get the same bytes, verified, with $codec from $source', async ({ codec, source }) => {
    const file = join(folder.path, 'served.bin');
    await writeFile(file, bytes);
    const server = await openLocalServer(file, { codec, source, until: 8, rehash: true });
    const outputs = Array.from({ length: 8 }, (_, at) => join(folder.path, `${codec}-${source}-${at}`));
    const results = await Promise.all(outputs.map((output) => getFrom(server.port, output)));
    for (const result of results) expect(result).toMatchObject({ result: 'PASS', sha256 });
    for (const output of outputs) expect(bytes.equals(await readFile(output))).toBe(true);
    const summary = await server.finished;
    expect(summary).toMatchObject({ verified: 8, failed: 0, sha256, bytesSent: 8 * SIZE, codec });
    if (codec === 'none') expect(summary.chunksEncoded).toBe(0);
    else expect(summary.bytesOnWire).toBeLessThan(0.7 * summary.bytesSent);
  });
});

describe('sizes around the size of a chunk', () => {
  const CHUNK = 64 * 1024;
  const SIZES = [0, 1, 2, CHUNK - 1, CHUNK, CHUNK + 1, 2 * CHUNK - 1, 2 * CHUNK, 2 * CHUNK + 1, 10 * CHUNK];

  test.each(WAYS)('all arrive whole with $codec from $source', async ({ codec, source }) => {
    for (const size of SIZES) {
      const bytes = content('log', size, size + 1);
      const file = join(folder.path, 'edge.bin');
      const output = join(folder.path, `edge-${codec}-${source}-${size}`);
      await writeFile(file, bytes);
      const server = await openLocalServer(file, { codec, source, until: 1 });
      expect(server.listening).toMatchObject({
        size,
        chunks: Math.ceil(size / CHUNK),
        chunkSize: CHUNK,
      });
      const result = await getFrom(server.port, output);
      expect(result).toMatchObject({
        result: 'PASS',
        bytes: size,
        sha256: createHash('sha256').update(bytes).digest('hex'),
      });
      expect(bytes.equals(await readFile(output))).toBe(true);
      const summary = await server.finished;
      expect(summary).toMatchObject({ verified: 1, failed: 0, bytesSent: size });
      expect(summary.chunksEncoded + summary.chunksRaw).toBe(Math.ceil(size / CHUNK));
    }
  });
});
