import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { definePlugin } from '#dist/core/plugin/plugin.js';
import { content } from '../support/content.js';
import { getFrom, openLocalServer } from '../support/local-server.js';
import { chunkOf, RawClient } from '../support/raw-client.js';
import { makeTempFolder } from '../support/temp-folder.js';
import { ThrottlingProxy } from '../support/throttling-proxy.js';
import { WatchedCodec } from '../support/watched-codec.js';

const CHUNK = 65_536;
const SIZE = 32 * 2 ** 20;
const TEXT = content('log', SIZE);

let temp: Awaited<ReturnType<typeof makeTempFolder>>;
let file: string;
beforeAll(async () => {
  temp = await makeTempFolder();
  file = join(temp.path, 'access.log');
  await writeFile(file, TEXT);
});
afterAll(() => temp.remove());

describe('--codec auto', () => {
  test('encodes for a client on a slow link, and says so: which codec, for what link, and what that has saved', async () => {
    const server = await openLocalServer(file, { codec: 'auto', chunkSize: CHUNK });
    const proxy = await ThrottlingProxy.open(server.port, () => ({
      toClient: { sliceBytes: 16_384, delayMs: 3 },
    }));
    const result = await getFrom(proxy.port, '/dev/null');
    await proxy.close();
    expect(result.result).toBe('PASS');
    server.drain();
    const summary = await server.finished;
    expect(summary).toMatchObject({ codec: 'auto', bytesSent: SIZE, verified: 1 });
    expect(summary.chunksEncoded).toBeGreaterThan(summary.chunksRaw);
    expect(summary.payloadBytes).toBeLessThan(SIZE / 2);
    expect(summary.bytesOnWire).toBeLessThan(summary.payloadBytes * 1.05);
    expect(server.events).toContainEqual(
      expect.objectContaining({ event: 'client.finished', codec: 'lz4', linkRate: expect.any(Number) }),
    );
  });

  test('is not kept from encoding by another codec that never shrinks anything, or only fails', async () => {
    const useless = definePlugin({
      name: 'useless',
      codecs: [
        { name: 'longer', encode: (chunk) => new Uint8Array(chunk.length + 1), decode: (payload) => payload },
        { name: 'broken', encode: () => Promise.reject(new Error('no')), decode: (payload) => payload },
      ],
    });
    const server = await openLocalServer(file, { codec: 'auto', chunkSize: CHUNK, plugins: [useless] });
    const proxy = await ThrottlingProxy.open(server.port, () => ({
      toClient: { sliceBytes: 16_384, delayMs: 3 },
    }));
    const result = await getFrom(proxy.port, '/dev/null', { plugins: [useless] });
    await proxy.close();
    expect(result.result).toBe('PASS');
    server.drain();
    const { chunksEncoded, chunksRaw } = await server.finished;
    expect(chunksEncoded).toBeGreaterThan(chunksRaw); // it was one in a hundred
  });

  test('offers what both sides have, in its own order, and nothing else', async () => {
    const { port } = await openLocalServer(file, { codec: 'auto', plugins: [new WatchedCodec().plugin] });
    for (const [codecs, offered] of [
      [
        ['deflate', 'lz4'],
        ['lz4', 'deflate'],
      ],
      [['deflate'], ['deflate']],
      [['zstd', 'watched', 'none'], ['watched']],
      [['zstd'], []],
      [[], []],
    ] as const) {
      const { client, manifest } = await RawClient.greet(port, { codecs });
      expect(manifest.codecs).toEqual(offered);
      client.reset();
    }
  });

  test.each(['auto', 'lz4'])(
    'a client without any common codec gets every chunk raw (--codec %s)',
    async (codec) => {
      const { port } = await openLocalServer(file, { codec });
      const { client, manifest } = await RawClient.greet(port, { codecs: ['zstd'] });
      client.get(0, manifest.entries[0].size / CHUNK);
      for (let index = 0; index < SIZE / CHUNK; index++) {
        const frame = await client.next('chunk');
        const { payload } = chunkOf(frame);
        expect([frame.header.codec, chunkOf(frame).index, payload.length]).toEqual([0, index, CHUNK]);
        expect(TEXT.compare(payload, 0, CHUNK, index * CHUNK, (index + 1) * CHUNK)).toBe(0);
      }
      client.reset();
    },
  );
});
