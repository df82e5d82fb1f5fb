import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { ServeSummary } from '#dist/core/server/serve-event.js';
import { content } from '../support/content.js';
import { getFrom, type LocalServer, openLocalServer } from '../support/local-server.js';
import { RawClient } from '../support/raw-client.js';
import { runCli, startServe } from '../support/run-cli.js';
import { makeTempFolder } from '../support/temp-folder.js';
import { WatchedCodec } from '../support/watched-codec.js';

const CHUNK = 65_536;
const MIB = 2 ** 20;

let temp: Awaited<ReturnType<typeof makeTempFolder>>;
beforeAll(async () => {
  temp = await makeTempFolder();
});
afterAll(() => temp.remove());

describe('encoding', () => {
  test('happens once for each chunk, though eight clients come at the same time', async () => {
    const codec = new WatchedCodec();
    const text = content('log', 300 * CHUNK + 1000);
    const server = await serve(text, codec);
    const results = await Promise.all(Array.from({ length: 8 }, () => get(server.port, codec)));
    expect(results.map(({ result }) => result)).toEqual(Array.from({ length: 8 }, () => 'PASS'));
    expect(chunksOf(text).map((chunk) => codec.count(chunk))).toEqual(Array.from({ length: 301 }, () => 1));
    expect(codec.chunks).toHaveLength(301);
    expect(await summaryOf(server)).toMatchObject({ chunksEncoded: 8 * 301, chunksRaw: 0, verified: 8 });
  });

  test('is not tried for random data, apart from a chunk now and then', async () => {
    const codec = new WatchedCodec();
    const server = await serve(content('random', 512 * CHUNK), codec);
    await get(server.port, codec);
    expect(codec.chunks.length).toBeLessThanOrEqual(512 / 32);
    expect(await summaryOf(server)).toMatchObject({ chunksEncoded: 0, chunksRaw: 512 });
  });

  test.each([
    ['random and text chunks by turns', (at: number) => at % 2 === 1],
    ['four random chunks, then four of text', (at: number) => at % 8 >= 4],
    ['sixteen random chunks, then sixteen of text', (at: number) => (at + 5) % 32 >= 16],
    ['text, then random data', (at: number) => at < 128],
    ['random data, then text', (at: number) => at >= 129],
    ['seven random chunks to one of text', (at: number) => at % 8 === 5],
  ])('finds every chunk of text in a file of %s', async (_, isText) => {
    const codec = new WatchedCodec();
    const bytes = mixed(256, isText);
    const server = await serve(bytes, codec);
    await get(server.port, codec);
    const texts = chunksOf(bytes).filter((_, at) => isText(at));
    expect(texts.map((chunk) => codec.count(chunk))).toEqual(texts.map(() => 1));
    expect(codec.chunks.length - texts.length).toBeLessThanOrEqual(256 / 32);
    expect((await summaryOf(server)).chunksEncoded).toBe(texts.length);
  });

  test('finds text behind a long stretch of random data after a few chunks', async () => {
    const codec = new WatchedCodec();
    const server = await serve(
      mixed(512, (at) => at >= 387),
      codec,
    );
    await get(server.port, codec);
    const { chunksEncoded } = await summaryOf(server);
    // Every eighth is looked at, and some are asked for ahead of what they turn out to be.
    expect(chunksEncoded).toBeGreaterThanOrEqual(512 - 387 - 16);
  });

  test('goes on for data that look random in every sample and shrink all the same', async () => {
    const codec = new WatchedCodec();
    const random = content('random', 300 * CHUNK);
    const halves = Array.from({ length: 600 }, (_, at) =>
      random.subarray((at * CHUNK) / 2, ((at + 1) * CHUNK) / 2),
    );
    const server = await serve(Buffer.concat(halves.flatMap((half) => [half, half])), codec);
    await get(server.port, codec);
    // Some are asked for ahead of the first that shows it.
    expect((await summaryOf(server)).chunksEncoded).toBeGreaterThanOrEqual(600 - 16);
  });

  test('stops when nobody is left who needs it', async () => {
    const codec = new WatchedCodec(() => delay(4));
    const server = await serve(content('log', 1024 * CHUNK), codec);
    const stopping = new AbortController();
    const left = await getFrom(server.port, '/dev/null', {
      plugins: [codec.plugin],
      signal: stopping.signal,
      onEvent: (event) => {
        if (event.event === 'progress' && event.bytes > 0) stopping.abort();
      },
    });
    expect(left.result).toBe('FAIL');
    // What was asked for in advance is done by the time another has been served; after that there is nothing.
    const counts: number[] = [];
    for (let round = 0; round < 2; round++) {
      expect((await getFrom(server.port, '/dev/null')).result).toBe('PASS');
      counts.push(codec.chunks.length);
    }
    expect(counts[0]).toBeLessThan(1024);
    expect(counts[1]).toBe(counts[0]);
  });
});

describe('memory for encoded chunks', () => {
  const SIZE = 256 * MIB;
  const COUNT = SIZE / (256 * 1024);
  const IDLERS = 40;

  test('stays within --cache and 64 MiB while clients that do not read hold chunks, and others are served', async () => {
    const file = join(temp.path, 'mild.bin');
    await writeFile(file, mildlyCompressible(SIZE));
    const { cli, port } = await startServe([file, '--codec', 'lz4', '--cache', '8M']);
    await cli.event('digest');
    const before = await anonymousMemory(cli.child.pid);
    const idlers = await Promise.all(
      Array.from({ length: IDLERS }, async (_, at) => {
        const { client } = await RawClient.greet(port, { codecs: ['lz4'] });
        client.stopReading();
        const first = Math.floor((at * COUNT) / IDLERS);
        client.get(first, COUNT - first);
        return client;
      }),
    );
    let most = 0;
    const look = setInterval(async () => {
      most = Math.max(most, await anonymousMemory(cli.child.pid).catch(() => 0));
    }, 50);
    const { exitCode, stderr } = await runCli(['get', `127.0.0.1:${port}`, '-o', '/dev/null']);
    clearInterval(look);
    most = Math.max(most, await anonymousMemory(cli.child.pid));
    expect({ exitCode, stderr }).toMatchObject({ exitCode: 0 });
    expect(most - before).toBeLessThan((8 + 64) * MIB);
    for (const idler of idlers) idler.reset();
  });
});

function serve(bytes: Uint8Array, codec: WatchedCodec): Promise<LocalServer> {
  const file = join(temp.path, 'served.bin');
  return writeFile(file, bytes).then(() =>
    openLocalServer(file, { codec: codec.name, chunkSize: CHUNK, plugins: [codec.plugin] }),
  );
}

function get(port: number, codec: WatchedCodec) {
  return getFrom(port, '/dev/null', { plugins: [codec.plugin] });
}

function summaryOf(server: LocalServer): Promise<ServeSummary> {
  server.drain();
  return server.finished;
}

function chunksOf(bytes: Uint8Array): readonly Uint8Array[] {
  return Array.from({ length: Math.ceil(bytes.length / CHUNK) }, (_, at) =>
    bytes.subarray(at * CHUNK, (at + 1) * CHUNK),
  );
}

/** A file of `count` chunks, each of them text or random. */
function mixed(count: number, isText: (index: number) => boolean): Buffer {
  const [text, random] = [content('log', count * CHUNK), content('random', count * CHUNK)];
  const chunks = Array.from({ length: count }, (_, at) =>
    (isText(at) ? text : random).subarray(at * CHUNK, (at + 1) * CHUNK),
  );
  return Buffer.concat(chunks);
}

/** Four fifths random, so that encoding pays, but what is kept of it is large. */
function mildlyCompressible(size: number): Buffer {
  const bytes = content('random', size);
  for (let at = 0; at < size; at += 1280) bytes.fill(0, at, at + 256);
  return bytes;
}

async function anonymousMemory(pid: number | undefined): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return 1024 * Number(/^RssAnon:\s+(\d+)/m.exec(status)?.[1]);
}
