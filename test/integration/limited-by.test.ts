import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { accessSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { GetResult } from '#dist/core/client/get-event.js';
import type { Codec } from '#dist/core/codec/codec.js';
import { definePlugin, type Plugin } from '#dist/core/plugin/plugin.js';
import type { ChunkSource, SourceProvider } from '#dist/core/source/chunk-source.js';
import { CUT, cutPlugin, halfEmpty } from '../support/cut-codec.js';
import { getFrom, type LocalServer, openLocalServer } from '../support/local-server.js';
import { startCli, startServe } from '../support/run-cli.js';
import { makeTempFolder } from '../support/temp-folder.js';
import { ThrottlingProxy } from '../support/throttling-proxy.js';

const BINARY = fileURLToPath(new URL('../../bin/run.js', import.meta.url));
const STRACE = '/usr/bin/strace';
const CHUNK = 65_536;
const CHUNKS = 128;
const SIZE = CHUNKS * CHUNK;
const FILE = halfEmpty(CHUNKS, CHUNK);

let temp: Awaited<ReturnType<typeof makeTempFolder>>;
let file: string;
beforeAll(async () => {
  temp = await makeTempFolder();
  file = join(temp.path, 'half.bin');
  await writeFile(file, FILE);
});
afterAll(() => temp.remove());

describe('what limited a transfer', () => {
  test('is the network on a slow link', async () => {
    const server = await openLocalServer(file);
    const proxy = await ThrottlingProxy.open(server.port, () => ({
      toClient: { sliceBytes: CHUNK, delayMs: 5 },
    }));
    const result = await getFrom(proxy.port, '/dev/null');
    await proxy.close();
    expectLimit(result, 'network');
    await expectToldByServer(server, 'network');
  });

  test('is the network, too, when the whole file fits into the buffers in front of it', async () => {
    const small = join(temp.path, 'small.bin');
    await writeFile(small, FILE.subarray(0, 8 * CHUNK));
    const server = await openLocalServer(small);
    const proxy = await ThrottlingProxy.open(server.port, () => ({
      toClient: { sliceBytes: CHUNK / 4, delayMs: 10 },
    }));
    const result = await getFrom(proxy.port, '/dev/null');
    await proxy.close();
    expectLimit(result, 'network');
  });

  test('is the disk where standard output is read slowly', async () => {
    const { cli, port } = await startServe([file, '--codec', 'none']);
    const getting = spawn(process.execPath, [BINARY, 'get', `127.0.0.1:${port}`, '-o', '-'], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let stderr = '';
    getting.stderr.on('data', (text: Buffer) => {
      stderr += text;
    });
    const closed = once(getting, 'close');
    for await (const _ of getting.stdout) await delay(10);
    expect(await closed).toEqual([0, null]);
    expect(stderr).toMatch(/^limit {4}the disk, \d+(\.\d)? % of the time$/m);
    expect(await cli.event('client.finished')).toMatchObject({ verified: true, limitedBy: 'disk' });
  });

  (isThere(STRACE) ? test : test.skip)('is the disk where each write takes long (needs strace)', async () => {
    const { port } = await startServe([file, '--codec', 'none']);
    const writes = 'pwrite64,pwritev';
    const slowly = [STRACE, '-f', '-qq', '-o', '/dev/null', '-e', `trace=${writes}`];
    const under = [...slowly, '-e', `inject=${writes}:delay_enter=100000`];
    const output = join(temp.path, 'slowly-written');
    const cli = startCli(['get', '--json', `127.0.0.1:${port}`, '-o', output], { under });
    expectLimit((await cli.event('result')) as unknown as GetResult, 'disk');
  });

  test.each([
    ['a module, in the digest thread', true],
    ['an object, on the main thread', false],
  ])('is the codec where decoding takes long: %s', async (_, asModule) => {
    const server = await openLocalServer(file, { codec: 'cut', plugins: [cutPlugin()] });
    const module = join(temp.path, 'slow.mjs');
    await writeFile(
      module,
      `const clock = new Int32Array(new SharedArrayBuffer(4));
       const decode = (payload, rawLength) => {
         Atomics.wait(clock, 0, 0, 5);
         return Buffer.concat([payload], rawLength);
       };
       export default { name: 'slow', apiVersion: 1, codecs: [{ name: 'cut', encode: (chunk) => chunk, decode }], sources: [] };`,
    );
    await import(pathToFileURL(module).href);
    let turn = Promise.resolve();
    const decode: Codec['decode'] = async (payload, rawLength) => {
      turn = turn.then(() => delay(5));
      await turn;
      return CUT.decode(payload, rawLength);
    };
    const plugins = [asModule ? module : cutPlugin({ decode })];
    expectLimit(await getFrom(server.port, '/dev/null', { plugins }), 'codec');
    await expectToldByServer(server, 'codec');
  });

  test('is the server, its source, where reading takes long', async () => {
    const plugin = sourceOf(() => delay(20));
    const server = await openLocalServer('slow:', { source: 'slow', plugins: [plugin] });
    expectLimit(await getFrom(server.port, '/dev/null'), 'server', 'source');
    await expectToldByServer(server, 'server');
  });

  test('is the server, its source, also where that keeps the codec waiting', async () => {
    // The hashing pass reads into shared memory; who encodes does not.
    const plugin = sourceOf((into) => (into.buffer instanceof SharedArrayBuffer ? undefined : delay(40)));
    const server = await openLocalServer('slow:', {
      source: 'slow',
      codec: 'cut',
      plugins: [plugin, cutPlugin()],
    });
    const result = await getFrom(server.port, '/dev/null', { plugins: [cutPlugin()] });
    expectLimit(result, 'server', 'source');
  });

  test('is the server, its codec, where encoding takes long', async () => {
    const encode: Codec['encode'] = async (chunk) => {
      await delay(40);
      return CUT.encode(chunk);
    };
    const server = await openLocalServer(file, { codec: 'cut', plugins: [cutPlugin({ encode })] });
    const result = await getFrom(server.port, '/dev/null', { plugins: [cutPlugin()] });
    expectLimit(result, 'server', 'codec');
    await expectToldByServer(server, 'server');
  });

  test('is the server, its rate limit, where that was set', async () => {
    const server = await openLocalServer(file, { bytesPerSecond: 12 * 2 ** 20 });
    expectLimit(await getFrom(server.port, '/dev/null'), 'server', 'rate');
    await expectToldByServer(server, 'server');
  });

  test('is the server, its digest, where that hashes the file for the first time, and slowly', async () => {
    const { cli, port } = await startServe([file, '--codec', 'none', '--chunk', '64', '--rehash'], {
      env: { NODE_OPTIONS: SLOW_HASH },
    });
    expectLimit(await getFrom(port, '/dev/null'), 'server', 'digest');
    expect(await cli.event('client.finished')).toMatchObject({ verified: true, limitedBy: 'server' });
  });

  test('is the digest where the client hashes slowly', async () => {
    const server = await openLocalServer(file);
    const cli = startCli(['get', '--json', `127.0.0.1:${server.port}`, '-o', '/dev/null'], {
      env: { NODE_OPTIONS: SLOW_HASH },
    });
    expectLimit((await cli.event('result')) as unknown as GetResult, 'digest');
    await expectToldByServer(server, 'digest');
  });

  test('is not told of a file that was there already', async () => {
    const server = await openLocalServer(file);
    const output = join(temp.path, 'twice');
    await getFrom(server.port, output);
    const again = await getFrom(server.port, output);
    expect(again).toMatchObject({ result: 'PASS', alreadyComplete: true });
    expect(again.limitedBy).toBeUndefined();
  });
});

/** Has each piece of data that a worker thread of a process hashes take 5 ms more. */
const SLOW_HASH = `--import=data:text/javascript,${encodeURIComponent(`
  import { Hash } from 'node:crypto';
  import { isMainThread } from 'node:worker_threads';
  const clock = new Int32Array(new SharedArrayBuffer(4));
  const { update } = Hash.prototype;
  if (!isMainThread) Hash.prototype.update = function (...data) {
    Atomics.wait(clock, 0, 0, 5);
    return update.apply(this, data);
  };`)}`;

/** A source `slow:` of FILE that waits before each read. */
function sourceOf(before: (into: Uint8Array) => Promise<void> | undefined): Plugin {
  const source: ChunkSource = {
    name: 'half.bin',
    size: SIZE,
    async read(offset, into) {
      await before(into);
      const bytes = FILE.subarray(offset, offset + into.length);
      into.set(bytes);
      return bytes.length;
    },
    close: async () => undefined,
  };
  const provider: SourceProvider = {
    name: 'slow',
    accepts: (reference) => reference === 'slow:',
    open: async () => source,
  };
  return definePlugin({ name: 'slow', sources: [provider] });
}

function expectLimit(result: GetResult, limitedBy: string, serverLimit?: string): void {
  expect(result).toMatchObject({
    result: 'PASS',
    limitedBy,
    ...(serverLimit === undefined ? {} : { serverLimit }),
  });
  expect(result.share).toBeGreaterThan(0.4);
  expect(result.share).toBeLessThanOrEqual(1);
}

/** What `serve` says of that client, and of the whole session. */
async function expectToldByServer(server: LocalServer, limitedBy: string): Promise<void> {
  server.drain();
  expect(await server.finished).toMatchObject({ limitedBy });
  expect(server.events).toContainEqual(
    expect.objectContaining({ event: 'client.finished', limitedBy, share: expect.any(Number) }),
  );
}

function isThere(path: string): boolean {
  try {
    accessSync(path);
    return true;
  } catch {
    return false;
  }
}
