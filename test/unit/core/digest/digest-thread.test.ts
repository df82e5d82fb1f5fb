import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { deflateRawSync } from 'node:zlib';
import { afterEach, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { CodecModule } from '#dist/core/digest/digest-job.js';
import { DigestThread } from '#dist/core/digest/digest-thread.js';
import { content } from '../../../support/content.js';
import { prefixDigests } from '../../../support/prefix-digests.js';
import { withTempFolder } from '../../../support/temp-folder.js';

const CHUNK = 1000;
/** Room for a chunk and the digest in front of it. */
const SLOT = 32 + CHUNK;
const FILE = content('log', 3 * CHUNK - 10);
const DIGESTS = prefixDigests(FILE, CHUNK);
const DEFLATE: CodecModule = {
  name: 'deflate',
  module: import.meta.resolve('#dist/plugins/codecs/deflate.js'),
};

const threads: DigestThread[] = [];
afterEach(async () => {
  await Promise.all(threads.splice(0).map((thread) => thread.close()));
});

describe('recording', () => {
  test('the digests are those of node:crypto, whatever the size and however the spans are cut', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 10_000 }),
        fc.integer({ min: 1, max: 3000 }),
        fc.integer({ min: 1, max: 5 }),
        async (size, chunkSize, chunksPerSpan) => {
          const bytes = content('random', size, size);
          const { thread } = start(bytes.length, bytes);
          const span = chunkSize * chunksPerSpan;
          const parts: Promise<Uint8Array>[] = [];
          for (let at = 0; at < size; at += span) {
            parts.push(thread.record(at, Math.min(span, size - at), chunkSize));
          }
          expect(Buffer.concat(await Promise.all(parts))).toEqual(prefixDigests(bytes, chunkSize));
          await thread.close();
        },
      ),
      { numRuns: 20 },
    );
  });
});

describe('verifying', () => {
  test('chunks with the right digests are verified, in order', async () => {
    const { verify } = start(3 * SLOT);
    const replies = await Promise.all([0, 1, 2].map((index) => verify(index)));
    expect(replies).toEqual(
      Array(3).fill({ kind: 'verify', outcome: 'verified', decodeMs: 0, hashMs: expect.any(Number) }),
    );
  });

  test('a wrong byte is a mismatch that tells what the digest is; later chunks are skipped', async () => {
    const { verify, chunk } = start(3 * SLOT);
    const wrong = Buffer.from(FILE);
    wrong.writeUInt8(wrong.readUInt8(CHUNK + 5) ^ 1, CHUNK + 5);
    const damaged = verify(1, { raw: wrong.subarray(CHUNK, 2 * CHUNK) });
    const first = verify(0);
    expect((await damaged).outcome).toBe('skipped');
    expect((await first).outcome).toBe('verified');
    chunk(1).set(wrong.subarray(CHUNK, 2 * CHUNK));
    const [second, third] = await Promise.all([verify(1, { keep: true }), verify(2)]);
    expect(second).toMatchObject({ outcome: 'mismatch' });
    const actual = second?.outcome === 'mismatch' ? second.actual : new Uint8Array(0);
    expect(Buffer.from(actual)).toEqual(prefixDigests(wrong, CHUNK).subarray(32, 64));
    expect(third?.outcome).toBe('skipped');
  });

  test('after a mismatch the same chunk can be tried again; nothing before it is lost', async () => {
    const { thread, verify, chunk } = start(3 * SLOT);
    await verify(0);
    chunk(1).fill(0);
    expect((await verify(1, { keep: true })).outcome).toBe('mismatch');
    expect((await verify(1)).outcome).toBe('skipped');
    thread.expect(1);
    expect((await verify(1)).outcome).toBe('verified');
    expect((await verify(2)).outcome).toBe('verified');
  });

  test('a restart begins with an empty hash', async () => {
    const { thread, verify } = start(3 * SLOT);
    await Promise.all([verify(0), verify(1)]);
    thread.expect(0, true);
    const again = await Promise.all([verify(0), verify(1), verify(2)]);
    expect(again.map(({ outcome }) => outcome)).toEqual(['verified', 'verified', 'verified']);
  });

  test('expecting a chunk does not make a wrong digest right', async () => {
    const { thread, verify } = start(3 * SLOT);
    await verify(0);
    thread.expect(2);
    expect((await verify(2)).outcome).toBe('mismatch');
  });
});

describe('decoding', () => {
  test('a payload is decoded by the codec module of its number, and its chunk stands in its place', async () => {
    const { verify, chunk } = start(3 * SLOT, undefined, [{ name: 'none' }, DEFLATE]);
    const reply = await verify(0, { payload: deflateRawSync(FILE.subarray(0, CHUNK)), codec: 2 });
    expect(reply.outcome).toBe('verified');
    expect(reply.decodeMs).toBeGreaterThan(0);
    expect(Buffer.from(chunk(0))).toEqual(FILE.subarray(0, CHUNK));
    expect((await verify(1)).outcome).toBe('verified');
  });

  test('a payload that cannot be decoded is named as such, and the chunk can be tried again', async () => {
    const { thread, verify } = start(3 * SLOT, undefined, [DEFLATE]);
    const reply = await verify(0, { payload: Buffer.alloc(20, 0xff), codec: 1 });
    expect(reply).toMatchObject({
      outcome: 'undecodable',
      message: expect.stringMatching(/^deflate could not decode 20 bytes into a chunk of 1000: /),
    });
    expect((await verify(1)).outcome).toBe('skipped');
    thread.expect(0);
    expect((await verify(0)).outcome).toBe('verified');
  });

  test('a payload that decodes to other bytes is a mismatch', async () => {
    const { verify } = start(3 * SLOT, undefined, [DEFLATE]);
    const reply = await verify(0, { payload: deflateRawSync(Buffer.alloc(CHUNK)), codec: 1 });
    expect(reply.outcome).toBe('mismatch');
  });

  test('a codec that cannot be loaded harms only the chunks that need it', async () => {
    const missing = { name: 'missing', module: 'file:///nowhere/at/all.js' };
    const misnamed = { ...DEFLATE, name: 'other' };
    const { thread, verify } = start(3 * SLOT, undefined, [missing, misnamed, DEFLATE, { name: 'object' }]);
    const messages: string[] = [];
    for (const codec of [1, 2, 4, 5]) {
      const reply = await verify(0, { payload: Buffer.alloc(20), codec });
      messages.push(reply.outcome === 'undecodable' ? reply.message : reply.outcome);
      thread.expect(0);
    }
    expect(messages).toEqual([
      expect.stringContaining('plugin file:///nowhere/at/all.js cannot be loaded'),
      `${DEFLATE.module} has no codec other`,
      'codec object cannot be loaded into a thread',
      'there is no codec number 5',
    ]);
    const good = await verify(0, { payload: deflateRawSync(FILE.subarray(0, CHUNK)), codec: 3 });
    expect(good.outcome).toBe('verified');
    expect((await verify(1)).outcome).toBe('verified');
  });

  test('an asynchronous codec does not let chunks overtake each other', async () => {
    const slow = `{ name: 'slow', encode: (chunk) => chunk,
      decode: (payload, length) => new Promise((done) => setTimeout(() => done(new Uint8Array(length)), 20)) }`;
    await withCodec(slow, async (codec) => {
      const zeros = Buffer.alloc(2 * CHUNK);
      const digests = prefixDigests(zeros, CHUNK);
      const { verify } = start(3 * SLOT, undefined, [codec]);
      const first = verify(0, { payload: Buffer.alloc(9), codec: 1, digest: digests.subarray(0, 32) });
      const second = verify(1, { raw: zeros.subarray(CHUNK), digest: digests.subarray(32) });
      expect((await second).outcome).toBe('verified');
      expect((await first).outcome).toBe('verified');
    });
  });
});

describe('a thread that ends', () => {
  test('may end without ever having had work', async () => {
    await new DigestThread().close();
  });

  test('rejects whoever waits, and everyone after that, when it is closed', async () => {
    const codec = "{ name: 'stuck', encode: (chunk) => chunk, decode: () => new Promise(() => {}) }";
    await withCodec(codec, async (module) => {
      const { thread, verify } = start(3 * SLOT, undefined, [module]);
      const waiting = [verify(0, { payload: Buffer.alloc(20), codec: 1 }), verify(1)];
      const ends = waiting.map((job) => expect(job).rejects.toMatchObject({ code: 'INTERNAL' }));
      await thread.close();
      await thread.close();
      await Promise.all(ends);
      const late = thread.record(0, CHUNK, CHUNK);
      await expect(late).rejects.toMatchObject({ code: 'INTERNAL', message: 'the digest thread has ended' });
    });
  });

  test.each([
    [
      'throws where nobody can catch it',
      "queueMicrotask(() => { throw new Error('boom'); })",
      'failed: boom',
    ],
    ['exits', 'process.exit()', 'has ended'],
  ])('rejects everything when its codec %s', async (_, does, message) => {
    const codec = `{ name: 'bomb', encode: (chunk) => chunk, decode: () => { ${does}; return new Promise(() => {}); } }`;
    await withCodec(codec, async (module) => {
      const { verify } = start(3 * SLOT, undefined, [module]);
      const jobs = [verify(0, { payload: Buffer.alloc(20), codec: 1 }), verify(1), verify(2)];
      for (const job of jobs) {
        await expect(job).rejects.toMatchObject({
          code: 'INTERNAL',
          message: `the digest thread ${message}`,
        });
      }
      await expect(verify(0)).rejects.toMatchObject({ code: 'INTERNAL' });
    });
  });
});

interface VerifyOptions {
  readonly raw?: Uint8Array;
  readonly payload?: Uint8Array;
  readonly codec?: number;
  readonly digest?: Uint8Array;
  /** Leave the chunk as it stands in memory. */
  readonly keep?: boolean;
}

/** A thread over memory with a slot for each chunk of FILE, or over `bytes`. */
function start(size: number, bytes?: Uint8Array, codecs: readonly CodecModule[] = []) {
  const memory = new SharedArrayBuffer(size);
  if (bytes !== undefined) new Uint8Array(memory).set(bytes);
  const thread = new DigestThread();
  thread.attach(memory, codecs);
  threads.push(thread);
  const offset = (index: number) => index * SLOT + 32;
  const raw = (index: number) => FILE.subarray(index * CHUNK, (index + 1) * CHUNK);
  const chunk = (index: number) => new Uint8Array(memory, offset(index), raw(index).length);
  const verify = (index: number, options: VerifyOptions = {}) => {
    const rawLength = options.raw?.length ?? raw(index).length;
    const payload = options.payload ?? options.raw ?? raw(index);
    const digest = options.digest ?? DIGESTS.subarray(index * 32, index * 32 + 32);
    new Uint8Array(memory, offset(index) - 32, 32).set(digest);
    if (options.keep !== true) new Uint8Array(memory, offset(index), payload.length).set(payload);
    const job = { index, offset: offset(index), payloadLength: payload.length, rawLength };
    return thread.verify({ ...job, codec: options.codec ?? 0 });
  };
  return { thread, verify, chunk };
}

/** Calls `use` with a plugin module whose only codec is the object that `source` describes. */
async function withCodec(source: string, use: (codec: CodecModule) => Promise<void>): Promise<void> {
  await withTempFolder(async (folder) => {
    const path = join(folder, 'plugin.mjs');
    writeFileSync(path, `export default { name: 'test', apiVersion: 1, sources: [], codecs: [${source}] };`);
    const name = /name: '(\w+)'/.exec(source)?.[1] ?? '';
    await use({ name, module: pathToFileURL(path).href });
  });
}
