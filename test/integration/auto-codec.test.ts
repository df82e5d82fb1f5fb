import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { encodeFrame } from '#dist/core/framing/encode-frame.js';
import { encodeClientKeepalive } from '#dist/core/framing/messages.js';
import { definePlugin, type Plugin } from '#dist/core/plugin/plugin.js';
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
    const { summary, events } = await slowly([]);
    const { chunksEncoded, chunksRaw, payloadBytes, bytesOnWire } = summary;
    expect(chunksEncoded + chunksRaw).toBe(SIZE / CHUNK + 1); // one to see that the file is hashed
    // How many depends on how busy this machine is; auto-codec.long.test.ts has a link of its own.
    expect(chunksEncoded).toBeGreaterThan(SIZE / CHUNK / 8);
    expect(payloadBytes).toBeLessThan(SIZE - (chunksEncoded * CHUNK) / 2);
    expect(bytesOnWire - payloadBytes).toBeLessThan(SIZE / 100);
    expect(events).toContainEqual(
      expect.objectContaining({ codec: expect.stringMatching(/lz4|deflate/), linkRate: expect.any(Number) }),
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
    const { summary } = await slowly([useless]);
    expect(summary.chunksEncoded).toBeGreaterThan(SIZE / CHUNK / 8); // every chunk was tried with these first, and went raw
  });

  test('begins with measurements: a report is asked for before and after each batch of chunks, and the next waits for it', async () => {
    const { port } = await openLocalServer(file, { codec: 'auto', chunkSize: CHUNK });
    const { client } = await RawClient.greet(port, { codecs: ['lz4'] });
    client.get(0, SIZE / CHUNK);
    for (let report = 1; report <= 4; report++) {
      await client.next('keepalive');
      const types = client.frames.map(({ header }) => header.type).slice(1); // without the manifest
      const sofar = types.map((type) => (type === 'keepalive' ? '|' : 'c')).join('');
      if (report === 2) expect(sofar).toBe('|cccc|');
      if (report === 4) expect(sofar).toMatch(/^\|cccc\|\|c{1,16}\|$/); // fewer where the hashing pass is not there yet
      const silent = { starvedUs: 0, busyUs: 0, digestRate: 0, decodeRate: 0 };
      const answer = { ...silent, received: client.received.length, elapsedUs: 100 * report };
      client.socket.write(encodeFrame('keepalive', encodeClientKeepalive(answer)));
    }
    client.reset();
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

/** One transfer over some 5 MB/s, of a file whose digests are known. */
async function slowly(plugins: readonly Plugin[]) {
  const server = await openLocalServer(file, {
    codec: 'auto',
    chunkSize: CHUNK,
    plugins,
    cacheBytes: 2 ** 28,
  });
  const { client } = await RawClient.greet(server.port);
  client.get(SIZE / CHUNK - 1, 1);
  await client.next('chunk');
  client.verdict({ verified: false });
  await client.gone;
  const before = server.events.length;
  const proxy = await ThrottlingProxy.open(server.port, () => ({
    toClient: { sliceBytes: 16_384, delayMs: 3 },
  }));
  const result = await getFrom(proxy.port, '/dev/null', { plugins });
  await proxy.close();
  expect(result.result).toBe('PASS');
  server.drain();
  return { summary: await server.finished, events: server.events.slice(before) };
}
