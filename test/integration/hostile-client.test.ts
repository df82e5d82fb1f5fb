import { createHash } from 'node:crypto';
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { encodeFrame, encodePreamble } from '#dist/core/framing/encode-frame.js';
import {
  encodeAsk,
  encodeClientKeepalive,
  encodeGet,
  encodeVerdict,
  parseError,
} from '#dist/core/framing/messages.js';
import { content } from '../support/content.js';
import { helloBytes, ScriptedPeer } from '../support/scripted-peer.js';
import { makeTempFolder } from '../support/temp-folder.js';
import { openTestServer, type TestServer, testGet } from '../support/test-server.js';

const CHUNK = 64 * 1024;
const COUNT = 512;
const SIZE = COUNT * CHUNK;
/** Short enough for a test; the watch looks once a second. */
const LIMITS = { helloTimeoutMs: 1_000, idleTimeoutMs: 1_000, stallTimeoutMs: 2_000, stallBytes: CHUNK };

/** A keepalive that reports no times and no rates. */
const SILENT = { received: 0, elapsedUs: 0, starvedUs: 0, busyUs: 0, digestRate: 0, decodeRate: 0 };

let folder: Awaited<ReturnType<typeof makeTempFolder>>;
let source: string;
let sha256: string;
let server: TestServer;
const peers: ScriptedPeer[] = [];

beforeAll(async () => {
  folder = await makeTempFolder();
  source = join(folder.path, 'source.bin');
  const bytes = content('random', SIZE);
  sha256 = createHash('sha256').update(bytes).digest('hex');
  await writeFile(source, bytes);
});
afterEach(async () => {
  for (const peer of peers.splice(0)) peer.socket.destroy();
  await server.stop();
});
afterAll(() => folder.remove());

async function connect(options = {}): Promise<ScriptedPeer> {
  const peer = await ScriptedPeer.connect(server.port, options);
  peers.push(peer);
  return peer;
}

let runs = 0;
/** A client that has been let in. */
async function enter(options = {}): Promise<ScriptedPeer> {
  const peer = await connect(options);
  await peer.send(helloBytes((++runs).toString(16).padStart(32, '0')));
  await peer.frame('manifest');
  return peer;
}

function get(first: number, count: number): Buffer {
  return encodeFrame('get', encodeGet({ first, count, reason: 'first' }));
}

async function expectGood(): Promise<void> {
  expect(await testGet(server.port)).toMatchObject({ result: 'PASS', sha256 });
}

function raw(...numbers: readonly number[]): Buffer {
  const bytes = Buffer.alloc(4 * numbers.length);
  numbers.forEach((number, at) => {
    bytes.writeUInt32BE(number, 4 * at);
  });
  return bytes;
}

describe('a request that cannot be met (B72 B90)', () => {
  test.each([
    [
      'starts behind the end',
      encodeFrame('get', Buffer.concat([raw(COUNT + 1, 0), Buffer.of(0)])),
      'get: 0 chunks from 513',
    ],
    [
      'goes past the end',
      encodeFrame('get', Buffer.concat([raw(10, COUNT), Buffer.of(0)])),
      'get: 512 chunks from 10',
    ],
    [
      'wraps around',
      encodeFrame('get', Buffer.concat([raw(2, 0xffff_ffff), Buffer.of(0)])),
      'get: 4294967295 chunks',
    ],
    [
      'starts at 2^32-1',
      encodeFrame('get', Buffer.concat([raw(0xffff_ffff, 1), Buffer.of(0)])),
      'from 4294967295',
    ],
    [
      'gives a reason that is none',
      encodeFrame('get', Buffer.concat([raw(0, 1), Buffer.of(9)])),
      'unknown reason 9',
    ],
    ['is too short', encodeFrame('get', raw(0, 1)), 'get: 8 bytes'],
    ['is too long', encodeFrame('get', Buffer.alloc(10)), 'announces 10 bytes, the limit is 9'],
    ['asks about a chunk that is not there', encodeFrame('ask', raw(COUNT)), 'ask: chunk 512'],
    ['asks in half a number', encodeFrame('ask', Buffer.alloc(6)), 'ask: 6 bytes'],
    ['asks about a million chunks', Buffer.from([3, 0, 0, 0, 0, 61, 9, 0]), 'announces 4000000 bytes'],
    [
      'is for another entry',
      encodeFrame('get', encodeGet({ first: 0, count: 1, reason: 'first' }), 3),
      'no entry 3',
    ],
    ['is a chunk', Buffer.from([6, 0, 0, 0, 0, 0, 0, 1]), 'type chunk is not allowed here'],
    ['is a second hello', helloBytes().subarray(8), 'type hello is not allowed here'],
    ['is of no known type', Buffer.from([99, 0, 0, 0, 0, 0, 0, 0]), 'unknown frame type 99'],
    [
      'says it received more than there can be',
      encodeFrame('keepalive', Buffer.alloc(40, 255)),
      'not a possible count',
    ],
    ['is a verdict before the end', encodeFrame('verdict', encodeVerdict({ verified: true })), 'before End'],
    ['is a verdict that is not JSON', encodeFrame('verdict', Buffer.from('{')), 'not valid JSON'],
    ['is an error of 16 MiB', Buffer.from([9, 0, 0, 0, 1, 0, 0, 0]), 'announces 16777216 bytes'],
  ])('because it %s is answered with an error that says so', async (_, request, message) => {
    server = await openTestServer(source);
    const peer = await enter();
    await peer.send(request);
    const error = await peer.frame('error');
    expect(parseError(error?.content ?? Buffer.alloc(0)).message).toContain(message);
    peer.socket.end();
    await peer.over();
    expect(await server.event('client.connected')).toBeDefined();
  });

  test('because a transfer is under way ends that connection only', async () => {
    server = await openTestServer(source);
    const peer = await enter();
    await peer.send(get(0, COUNT), get(0, COUNT));
    await peer.over();
    await expectGood();
  });

  test('is not what a Get at the very end is: that gets End at once', async () => {
    server = await openTestServer(source);
    const peer = await enter();
    await peer.send(get(COUNT, 0));
    expect(await peer.frame('end')).toBeDefined();
    expect(peer.received).toBeLessThan(1000);
  });

  test('because a client asks faster than it reads ends that client', async () => {
    server = await openTestServer(source);
    const peer = await enter();
    peer.socket.pause();
    const questions = encodeFrame('ask', encodeAsk(Array.from({ length: 256 }, (_, index) => index)));
    await peer.send(...Array.from({ length: 2000 }, () => questions));
    peer.socket.resume();
    await peer.over();
    expect(peer.received).toBeLessThan(20 * questions.length * 10);
    await expectGood();
  });
});

describe('a client that says hello badly or not at all (B77)', () => {
  test('is dropped at an absolute deadline, dripping or silent', async () => {
    server = await openTestServer(source, { limits: LIMITS });
    const silent = await Promise.all(Array.from({ length: 20 }, () => connect()));
    const dripping = await Promise.all(Array.from({ length: 20 }, () => connect()));
    const stop = new AbortController();
    const drip = (async () => {
      for (const byte of helloBytes()) {
        if (stop.signal.aborted) return;
        for (const peer of dripping) await peer.send(Buffer.of(byte));
        await delay(50);
      }
    })();
    await expectGood();
    for (const peer of [...silent, ...dripping]) peer.socket.resume();
    await Promise.all([...silent, ...dripping].map((peer) => peer.over()));
    stop.abort();
    await drip;
  });

  test.each([
    ['4 GiB of it', Buffer.concat([encodePreamble(), Buffer.from([1, 0, 0, 0, 255, 255, 255, 255])])],
    ['a run of 31 digits', helloBytes('a'.repeat(31))],
    ['a run of capital letters', helloBytes('A'.repeat(32))],
    ['a codec that is a path', helloBytes('ab'.repeat(16), ['../lz4'])],
    ['a codec called __proto__', helloBytes('ab'.repeat(16), ['__proto__'])],
    [
      '65 codecs',
      helloBytes(
        'ab'.repeat(16),
        Array.from({ length: 65 }, (_, n) => `c${n}`),
      ),
    ],
    ['JSON that is a number', Buffer.concat([encodePreamble(), encodeFrame('hello', Buffer.from('1e400'))])],
    ['deep nesting', Buffer.concat([encodePreamble(), encodeFrame('hello', Buffer.alloc(16_000, '['))])],
    ['no JSON', Buffer.concat([encodePreamble(), encodeFrame('hello', Buffer.from([255, 254, 0]))])],
  ])('with %s is told that it is wrong', async (_, bytes) => {
    server = await openTestServer(source);
    const peer = await connect();
    await peer.send(bytes);
    const error = await peer.frame('error');
    expect(parseError(error?.content ?? Buffer.alloc(0)).code).toBe('PROTOCOL');
  });
});

describe('a client that ends its side (B85)', () => {
  test('after its request still gets everything', async () => {
    server = await openTestServer(source);
    const peer = await enter({ allowHalfOpen: true });
    await peer.send(get(0, COUNT));
    peer.socket.end();
    await peer.over();
    expect(peer.received).toBeGreaterThan(SIZE);
    expect(peer.frames.at(-1)?.header.type).toBe('end');
  });

  test('before it has asked for anything is let go', async () => {
    server = await openTestServer(source);
    const peer = await enter({ allowHalfOpen: true });
    peer.socket.end();
    await peer.over();
  });

  test('not at all but sends 10 MiB of junk after its request is dropped without a deadlock', async () => {
    server = await openTestServer(source);
    const peer = await enter();
    await peer.send(get(0, COUNT));
    void peer.send(content('random', 10 * 2 ** 20));
    await peer.over();
    await expectGood();
  });
});

describe('a client that takes its time (B28 B29)', () => {
  /** Reads `bytes` every `everyMs`, as a slow machine does, and tells what it has. */
  async function readSlowly(
    peer: ScriptedPeer,
    rounds: number,
    tell: (round: number) => number,
  ): Promise<void> {
    peer.socket.pause();
    for (let round = 0; round < rounds && !peer.closed; round++) {
      await delay(100);
      await peer.send(encodeFrame('keepalive', encodeClientKeepalive({ ...SILENT, received: tell(round) })));
    }
  }

  test('and never reads is dropped, with the reason on the server', async () => {
    server = await openTestServer(source, { limits: { ...LIMITS, returnMs: 10 } });
    const peer = await enter();
    peer.socket.pause();
    await peer.send(get(0, COUNT));
    expect(await server.event('client.finished')).toMatchObject({
      verified: false,
      code: 'IDLE',
      message: 'less than 64 KiB taken in 2 s',
    });
  });

  test('and says that it reads although it does not is dropped all the same', async () => {
    server = await openTestServer(source, { limits: { ...LIMITS, returnMs: 10 } });
    const peer = await enter();
    await peer.send(get(0, COUNT));
    await readSlowly(peer, 100, (round) => round * CHUNK * 100);
    expect(await server.event('client.finished')).toMatchObject({ code: 'IDLE' });
  });

  test('but moves steadily is left alone', async () => {
    server = await openTestServer(source, { limits: { ...LIMITS, returnMs: 10 } });
    const peer = await enter();
    await peer.send(get(0, COUNT));
    // It cannot be made to read slowly here without a small window: what it tells is what counts.
    await readSlowly(peer, 45, (round) => (round + 1) * CHUNK);
    expect(peer.closed).toBe(false);
    expect(server.events.some(({ event }) => event === 'client.finished')).toBe(false);
  });

  test('and hears nothing back after the End is dropped as not confirmed (B54)', async () => {
    server = await openTestServer(source, { limits: { ...LIMITS, returnMs: 10 } });
    const peer = await enter();
    await peer.send(get(COUNT, 0));
    expect(await server.event('client.finished')).toMatchObject({ verified: false, code: 'IDLE' });
  });
});

describe('clients that come in numbers', () => {
  test('at the same moment never get more places than there are; the others are told (B79)', async () => {
    server = await openTestServer(source, { maxClients: 5 });
    const all = await Promise.all(Array.from({ length: 20 }, () => connect()));
    await Promise.all(all.map((peer, n) => peer.send(helloBytes(n.toString(16).padStart(32, '0')))));
    const answers = await Promise.all(
      all.map(async (peer) => {
        while (peer.frames.length === 0 && !peer.closed) await delay(5);
        const [frame] = peer.frames;
        return frame?.header.type === 'error' ? parseError(frame.content).code : frame?.header.type;
      }),
    );
    expect(answers.filter((answer) => answer === 'manifest')).toHaveLength(5);
    expect(answers.filter((answer) => answer === 'BUSY')).toHaveLength(15);
  });

  test('and vanish right after their hello do not keep a drain waiting', async () => {
    server = await openTestServer(source, { limits: { returnMs: 10 } });
    for (let n = 0; n < 40; n++) {
      const peer = await connect();
      void peer.send(helloBytes(n.toString(16).padStart(32, 'c')));
      if (n % 2 === 0) await new Promise(setImmediate);
      peer.reset();
    }
    server.drain();
    expect((await server.finished).verified).toBe(0);
  });

  test('while the server drains are refused at once, and a known run is let in (B79)', async () => {
    server = await openTestServer(source);
    const known = await connect();
    await known.send(helloBytes('d'.repeat(32)));
    await known.frame('manifest');
    server.drain();
    const late = await connect();
    await late.send(helloBytes('e'.repeat(32)));
    const error = await late.frame('error');
    expect(parseError(error?.content ?? Buffer.alloc(0)).code).toBe('DRAINING');
    known.reset();
    const again = await connect();
    await again.send(helloBytes('d'.repeat(32)));
    expect(await again.frame('manifest')).toBeDefined();
    await again.send(get(COUNT, 0));
    await again.frame('end');
    await again.send(encodeFrame('verdict', encodeVerdict({ verified: true })));
    expect(await server.finished).toMatchObject({ verified: 1, failed: 0 });
  });

  test('and abort in the middle leave no descriptor, no listener and no warning behind (B55 B56)', async () => {
    const warnings: Error[] = [];
    const note = (warning: Error) => warnings.push(warning);
    process.on('warning', note);
    server = await openTestServer(source, { limits: { returnMs: 10 } });
    await expectGood();
    const before = (await readdir('/proc/self/fd')).length;
    for (let round = 0; round < 20; round++) {
      const group = await Promise.all(Array.from({ length: 10 }, () => enter()));
      await Promise.all(
        group.map(async (peer) => {
          await peer.send(get(0, COUNT));
          await peer.until(100_000);
          peer.reset();
        }),
      );
      peers.length = 0;
    }
    await expectGood();
    await server.event('client.finished', ({ client }) => client === 201);
    expect((await readdir('/proc/self/fd')).length).toBeLessThanOrEqual(before + 2);
    process.off('warning', note);
    expect(warnings).toEqual([]);
  });
});
