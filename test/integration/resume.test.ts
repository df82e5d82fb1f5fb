import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import type { GetEvent } from '#dist/core/client/get-event.js';
import { content } from '../support/content.js';
import { makeTempFolder } from '../support/temp-folder.js';
import { openTestServer, type TestServer, testGet } from '../support/test-server.js';
import { ThrottlingProxy } from '../support/throttling-proxy.js';

const KIB = 1024;
const CHUNK = 64 * KIB;
const SIZE = 40 * CHUNK + 1000;
const FILE = content('random', SIZE);

let folder: Awaited<ReturnType<typeof makeTempFolder>>;
let source: string;
const open: (TestServer | ThrottlingProxy)[] = [];

beforeAll(async () => {
  folder = await makeTempFolder();
  source = join(folder.path, 'source.bin');
  await writeFile(source, FILE);
});
afterEach(async () => {
  for (const one of open.splice(0)) await ('stop' in one ? one.stop() : one.close());
});
afterAll(() => folder.remove());

async function serve(path = source, options: Parameters<typeof openTestServer>[1] = {}): Promise<TestServer> {
  const server = await openTestServer(path, options);
  open.push(server);
  return server;
}

async function proxy(...args: Parameters<typeof ThrottlingProxy.open>): Promise<ThrottlingProxy> {
  const opened = await ThrottlingProxy.open(...args);
  open.push(opened);
  return opened;
}

function kept(events: readonly GetEvent[]): readonly number[] {
  return events.flatMap((event) => (event.event === 'kept' ? [event.bytes] : []));
}

let names = 0;
/** A target that is not there yet, whose partial holds `partial`. */
async function target(partial?: Uint8Array): Promise<string> {
  const path = join(folder.path, `target-${names++}`);
  if (partial !== undefined) await writeFile(`${path}.wirebound`, partial);
  return path;
}

async function expectWhole(path: string, expected: Uint8Array = FILE): Promise<void> {
  expect(Buffer.compare(await readFile(path), expected)).toBe(0);
  await expect(stat(`${path}.wirebound`)).rejects.toMatchObject({ code: 'ENOENT' });
}

describe('a get that finds a partial file', () => {
  test('keeps what the server proves, says how much, and fetches only the rest', async () => {
    const { port } = await serve();
    const output = await target(FILE.subarray(0, 30 * CHUNK + 5));
    const events: GetEvent[] = [];
    const result = await testGet(port, { output }, events);
    expect(result.result).toBe('PASS');
    expect(kept(events)).toEqual([30 * CHUNK]);
    expect(events.find(({ event }) => event === 'checking')).toMatchObject({ bytes: 30 * CHUNK + 5 });
    expect(result.bytesOnWire).toBeLessThan(12 * CHUNK);
    await expectWhole(output);
  });

  test.each([
    ['zeros in the middle', 10, () => overwritten(10 * CHUNK + 7, Buffer.alloc(KIB))],
    ['garbage in the middle', 20, () => overwritten(20 * CHUNK, content('random', 100, 9))],
    ['a byte wrong at the very start', 0, () => overwritten(0, Buffer.from([FILE.readUInt8(0) ^ 1]))],
    ['another file', 0, () => content('log', SIZE, 3)],
    ['a larger other file', 0, () => content('log', 2 * SIZE, 3)],
    ['nothing', 0, () => Buffer.alloc(0)],
    ['junk behind the right bytes', 41, () => Buffer.concat([FILE, content('random', CHUNK, 5)])],
    ['all of it', 41, () => FILE],
  ])('with %s keeps exactly %i chunks and ends identical', async (_what, chunks, make) => {
    const { port } = await serve();
    const partial = make();
    const output = await target(partial);
    const events: GetEvent[] = [];
    const result = await testGet(port, { output }, events);
    expect(result.result).toBe('PASS');
    expect(kept(events)).toEqual(partial.length === 0 ? [] : [Math.min(SIZE, chunks * CHUNK)]);
    await expectWhole(output);
  });

  test('goes on with it when the server now uses another chunk size or codec', async () => {
    const output = await target(FILE.subarray(0, 30 * CHUNK));
    const { port } = await serve(source, { chunkSize: 256 * KIB, codec: 'lz4', source: 'file' });
    const events: GetEvent[] = [];
    expect(await testGet(port, { output }, events)).toMatchObject({ result: 'PASS' });
    expect(kept(events)).toEqual([28 * CHUNK]);
    await expectWhole(output);
  });

  test('keeps the longest front part that a new content has in common with it', async () => {
    const changed = overwritten(25 * CHUNK + 1, Buffer.from('changed'));
    const path = join(folder.path, 'changed.bin');
    await writeFile(path, changed);
    const output = await target(FILE.subarray(0, 30 * CHUNK));
    const { port } = await serve(path);
    const events: GetEvent[] = [];
    expect(await testGet(port, { output }, events)).toMatchObject({ result: 'PASS' });
    expect(kept(events)).toEqual([25 * CHUNK]);
    await expectWhole(output, changed);
  });

  test('does not take a different target for complete because the partial beside it is right', async () => {
    const output = await target(FILE.subarray(0, 30 * CHUNK));
    await writeFile(output, overwritten(3, Buffer.from('different')));
    const { port } = await serve();
    // Cut while the partial is being checked: the target must not be looked at again with what was proven since.
    const { port: cutPort } = await proxy(port, (n) => (n === 0 ? { toClient: { cutAfter: 2600 } } : {}));
    expect(await testGet(cutPort, { output, force: true })).toMatchObject({
      result: 'PASS',
      alreadyComplete: false,
    });
    await expectWhole(output);
  });
});

describe('a get whose connection is lost', () => {
  test('goes on without asking again for any chunk that came whole', async () => {
    const { port } = await serve();
    const cuts = [5, 12, 12.5, 30].map((chunks) => Math.floor(chunks * (CHUNK + 44)) + 300);
    const lossy = await proxy(port, (n) => {
      const cutAfter = cuts[n];
      return cutAfter === undefined ? {} : { toClient: { cutAfter, cutBy: 'end' as const } };
    });
    const events: GetEvent[] = [];
    const output = await target();
    const result = await testGet(lossy.port, { output }, events);
    expect(result.result).toBe('PASS');
    await expectWhole(output);
    const lost = events.filter(({ event }) => event === 'reconnecting').length;
    expect(lost).toBeGreaterThanOrEqual(2);
    expect(lossy.bytesToClient).toBeLessThan(SIZE + 41 * 44 + (lost + 1) * (CHUNK + 1000));
  });

  test('and whose server comes back with another chunk size proves its partial at the new boundaries', async () => {
    const first = await serve(source, { bytesPerSecond: 1536 * KIB });
    const events: GetEvent[] = [];
    const output = await target();
    const lossy = await proxy(first.port);
    const running = testGet(lossy.port, { output }, events);
    await first.event('client.progress', ({ bytes }) => bytes > 3 * CHUNK);
    const second = await serve(source, { chunkSize: 128 * KIB, codec: 'deflate' });
    lossy.retarget(second.port);
    lossy.cut();
    expect(await running).toMatchObject({ result: 'PASS', bytes: SIZE });
    expect(kept(events).at(-1)).toBeGreaterThan(0);
    await expectWhole(output);
  });

  test.each([
    ['of the same size', 0],
    ['of another size', 500],
  ])(
    'and whose server comes back with another content %s is told so, and never mixes the two',
    async (_, more) => {
      const path = join(folder.path, `other-${more}.bin`);
      const changed = Buffer.concat([overwritten(5, Buffer.from('changed')), Buffer.alloc(more)]);
      await writeFile(path, changed);
      const first = await serve(source, { bytesPerSecond: 1536 * KIB });
      const output = await target();
      const lossy = await proxy(first.port);
      const running = testGet(lossy.port, { output });
      await first.event('client.progress', ({ bytes }) => bytes > 3 * CHUNK);
      const second = await serve(path, { chunkSize: 128 * KIB });
      lossy.retarget(second.port);
      lossy.cut();
      expect(await running).toMatchObject({ result: 'FAIL', code: 'SOURCE_CHANGED' });
      await expect(stat(output)).rejects.toMatchObject({ code: 'ENOENT' });
      expect(await testGet(second.port, { output })).toMatchObject({ result: 'PASS' });
      await expectWhole(output, changed);
    },
  );

  test('does not reconnect at all with --retry-for 0, and says how far it came', async () => {
    const { port } = await serve();
    const lossy = await proxy(port, () => ({ toClient: { cutAfter: 10 * CHUNK, cutBy: 'end' } }));
    const output = await target();
    const result = await testGet(lossy.port, { output, retryForMs: 0 });
    expect(result).toMatchObject({ result: 'FAIL', code: 'CONNECTION_LOST', partial: `${output}.wirebound` });
    expect(result.message).toMatch(/lost.*; chunk 9 of 41 was due, 589824 of 2622440 bytes are verified/);
    expect(lossy.connections).toBe(1);
  });

  test('can be stopped while it waits for a server that does not come back', async () => {
    const { port } = await serve();
    const lossy = await proxy(port, (n) => ({ toClient: { cutAfter: n === 0 ? 10 * CHUNK : 0 } }));
    const stop = new AbortController();
    const events: GetEvent[] = [];
    const running = testGet(
      lossy.port,
      {
        signal: stop.signal,
        limits: { leastBackoffMs: 60_000, mostBackoffMs: 60_000 },
        onEvent: (event) => {
          events.push(event);
          if (event.event === 'reconnecting') setImmediate(() => stop.abort(new Error('stopped')));
        },
        retryForMs: 120_000,
      },
      events,
    );
    expect(await running).toMatchObject({ result: 'FAIL', message: 'stopped' });
  });
});

describe('a verdict', () => {
  test('that could not be delivered is delivered over another connection', async () => {
    const server = await serve();
    const { port } = await proxy(server.port, (n) => (n < 2 ? { toServer: { cutAfter: 200 } } : {}));
    expect(await testGet(port, { output: await target() })).toMatchObject({ result: 'PASS' });
    await server.event('client.finished', ({ verified }) => verified);
    expect((await server.stop()).verified).toBe(1);
  });

  test('reaches a server that was started again meanwhile, whatever its chunk size', async () => {
    const first = await serve();
    const lossy = await proxy(first.port, (n) => (n === 0 ? { toServer: { stallAfter: 170 } } : {}));
    const running = testGet(lossy.port, { output: await target() });
    await first.event('client.connected');
    const second = await serve(source, { chunkSize: 256 * KIB });
    lossy.retarget(second.port);
    lossy.cut();
    expect(await running).toMatchObject({ result: 'PASS' });
    await second.event('client.finished', ({ verified }) => verified);
  });

  test('of a failed run tells the server why', async () => {
    const server = await serve();
    const output = await target();
    const result = await testGet(server.port, { output, expect: '00'.repeat(32) });
    expect(result).toMatchObject({ result: 'FAIL', code: 'DIGEST_MISMATCH' });
    const finished = await server.event('client.finished');
    expect(finished).toMatchObject({ verified: false, code: 'DIGEST_MISMATCH' });
    expect(finished.message).toMatch(/--expect wants/);
  });
});

function overwritten(at: number, bytes: Uint8Array): Buffer {
  const copy = Buffer.from(FILE);
  copy.set(bytes, at);
  return copy;
}
