import { deflateRawSync } from 'node:zlib';
import { describe, expect, test } from '@jest/globals';
import type { Codec } from '#dist/core/codec/codec.js';
import { WireBoundError } from '#dist/core/errors.js';
import { encodePreamble } from '#dist/core/framing/encode-frame.js';
import { CodecChoice } from '#dist/core/server/codec-choice.js';
import { RateLimit } from '#dist/core/server/rate-limit.js';
import { type Sent, sendChunks } from '#dist/core/server/send-chunks.js';
import { Waits } from '#dist/core/server/waits.js';
import { content } from '../../../support/content.js';
import { decodeFrames } from '../../../support/feed-decoder.js';
import { createGate } from '../../../support/gate.js';
import { prefixDigests } from '../../../support/prefix-digests.js';
import { CHUNK_SIZE, openTestOffer, type TestOfferOptions } from '../../../support/test-offer.js';
import { TestSource, type TestSourceOptions } from '../../../support/test-source.js';

const MIB = 1024 * 1024;
const never = new AbortController().signal;
const FILE = content('random', 5 * MIB - 99);
const DIGESTS = prefixDigests(FILE, CHUNK_SIZE);
const COUNT = 80;

describe('sendChunks', () => {
  test('the chunks that were asked for leave in order, each with its digest', async () => {
    const { frames, done } = await start({ first: 3, end: COUNT });
    await done;
    expect(frames().map(({ index }) => index)).toEqual(Array.from({ length: COUNT - 3 }, (_, at) => at + 3));
    for (const { index, digest, payload, codec } of frames()) {
      expect(codec).toBe(0);
      expect(digest.equals(DIGESTS.subarray(index * 32, index * 32 + 32))).toBe(true);
      expect(payload.equals(FILE.subarray(index * CHUNK_SIZE, (index + 1) * CHUNK_SIZE))).toBe(true);
    }
  });

  test('nothing is sent for no chunks', async () => {
    const { writes, done } = await start({ first: 4, end: 4 });
    await done;
    expect(writes).toEqual([]);
  });

  test('small chunks share a write, of about 1 MiB and no more', async () => {
    const { writes, done } = await start();
    await done;
    const payloads = writes.map((write) => Math.floor(write.length / CHUNK_SIZE));
    expect(payloads.slice(0, -1).every((count) => count === 16)).toBe(true);
    expect(Math.max(...writes.map((write) => write.length))).toBeLessThanOrEqual(MIB + 16 * 44);
  });

  test('a large chunk is cut into writes of at most 1 MiB', async () => {
    const { writes, frames, done } = await start({ end: 2, chunkSize: 4 * MIB });
    await done;
    expect(Math.max(...writes.map((write) => write.length))).toBeLessThanOrEqual(MIB);
    expect(writes.slice(0, 4).map((write) => write.length)).toEqual([MIB, MIB, MIB, MIB]);
    expect(Buffer.concat(frames().map(({ payload }) => payload)).equals(FILE)).toBe(true);
  });

  test('a low rate is spent in small pieces', async () => {
    const rate = new RateLimit(4 * MIB);
    const { writes, done } = await start({ end: 8, rate });
    await done;
    expect(Math.max(...writes.map((write) => write.length))).toBeLessThanOrEqual(rate.batchSize(MIB));
    expect(Buffer.concat(writes).length).toBe(8 * (CHUNK_SIZE + 44));
  });

  test('it tells after each write what has left', async () => {
    const { sent, done } = await start({ first: 3 });
    await done;
    const last = sent.at(-1);
    expect([last?.next, last?.position]).toEqual([COUNT, FILE.length]);
    expect(sum(sent, 'rawBytes')).toBe(FILE.length - 3 * CHUNK_SIZE);
    expect([sum(sent, 'rawChunks'), sum(sent, 'encodedChunks')]).toEqual([COUNT - 3, 0]);
  });

  test('encoded chunks travel under number 1, those that do not shrink raw', async () => {
    const mixed = Buffer.concat([content('log', 20 * CHUNK_SIZE), content('random', 20 * CHUNK_SIZE)]);
    const { frames, sent, done } = await start({ file: mixed, end: 40, codec: deflate, mayEncode: true });
    await done;
    expect(frames().map(({ codec }) => codec)).toEqual(
      Array.from({ length: 40 }, (_, at) => (at < 20 ? 1 : 0)),
    );
    expect([sum(sent, 'encodedChunks'), sum(sent, 'rawChunks')]).toEqual([20, 20]);
    expect(sum(sent, 'rawBytes')).toBe(mixed.length);
  });

  test('no frame is built before its digest is known; it waits for the pass between two frames', async () => {
    const gates = Array.from({ length: 5 }, createGate);
    const { frames, offer, waits, done } = await start({
      settled: false,
      beforeRead: (offset) => gates[offset / MIB]?.opened,
      onSend: () => expect(frames().length).toBeLessThanOrEqual(offer.chain.frontier),
    });
    for (const gate of gates) {
      const known = offer.chain.frontier;
      gate.open();
      await offer.chain.reach(Math.min(COUNT - 1, known + 15), never);
      expect(frames().length).toBeLessThanOrEqual(offer.chain.frontier);
    }
    await done;
    expect(frames().length).toBe(COUNT);
    expect(waits.length).toBeGreaterThanOrEqual(1);
    expect(waits.every(Number.isInteger)).toBe(true);
  });
});

describe('loans', () => {
  test('are back when all is sent, and not before the kernel has taken the bytes', async () => {
    const { source, done } = await start({ onSend: () => expect(source.openLoans).toBeGreaterThan(0) });
    await done;
    expect([source.openLoans, source.loans]).toEqual([0, COUNT]);
  });

  test('are few at any time', async () => {
    let most = 0;
    const { source, done } = await start({
      onSend: () => {
        most = Math.max(most, source.openLoans);
      },
    });
    await done;
    expect(most).toBeLessThanOrEqual(3 * 16);
  });

  test('are back when the connection breaks', async () => {
    const lost = new WireBoundError('CONNECTION_LOST', 'gone');
    const { source, writes, done } = await start({
      onSend: () => {
        if (writes.length === 2) throw lost;
      },
    });
    await expect(done).rejects.toBe(lost);
    await turn();
    expect([source.openLoans, writes.length]).toEqual([0, 2]);
  });

  test('are back when the transfer is ended between two writes', async () => {
    const controller = new AbortController();
    const reason = new WireBoundError('SOURCE_CHANGED', 'changed');
    const { source, writes, done } = await start({
      signal: controller.signal,
      onSend: () => {
        if (writes.length === 2) controller.abort(reason);
      },
    });
    await expect(done).rejects.toBe(reason);
    await turn();
    expect([source.openLoans, writes.length]).toEqual([0, 2]);
  });

  test('are back when the transfer is ended in the middle of a frame; the rate does not hold up the rest', async () => {
    const controller = new AbortController();
    const reason = new WireBoundError('STOPPED', 'stopped');
    const { source, frames, done } = await start({
      rate: new RateLimit(1),
      signal: controller.signal,
      onSend: () => controller.abort(reason),
    });
    await expect(done).rejects.toBe(reason);
    await turn();
    expect(frames().map(({ payload }) => payload)).toEqual([FILE.subarray(0, CHUNK_SIZE)]);
    expect(source.openLoans).toBe(0);
  });

  test('are back when one chunk cannot be had; the ones before it are sent', async () => {
    const failure = new WireBoundError('SOURCE_UNREADABLE', 'EIO');
    const { source, frames, done } = await start({
      beforeLend: (offset) => {
        if (offset === 21 * CHUNK_SIZE) throw failure;
      },
    });
    await expect(done).rejects.toBe(failure);
    await turn();
    expect(frames().map(({ index }) => index)).toEqual(Array.from({ length: 21 }, (_, at) => at));
    expect(source.openLoans).toBe(0);
  });

  test('are back when the pass fails', async () => {
    const failure = new WireBoundError('SOURCE_UNREADABLE', 'EIO');
    const { source, frames, done } = await start({
      settled: false,
      beforeRead: (offset) => {
        if (offset === 2 * MIB) throw failure;
      },
    });
    await expect(done).rejects.toBe(failure);
    await turn();
    expect(source.openLoans).toBe(0);
    expect(frames().length).toBeLessThanOrEqual(32);
  });
});

const deflate: Codec = {
  name: 'deflate',
  encode: (chunk) => deflateRawSync(chunk),
  decode: (payload) => payload,
};

interface RunOptions extends TestOfferOptions, Pick<TestSourceOptions, 'beforeRead' | 'beforeLend'> {
  readonly file?: Buffer;
  readonly first?: number;
  readonly end?: number;
  readonly mayEncode?: boolean;
  readonly rate?: RateLimit;
  readonly signal?: AbortSignal;
  /** Begin only once the chain is complete (default), so that every digest is known. */
  readonly settled?: boolean;
  /** Called with each write, after it was recorded; what it throws the write throws. */
  readonly onSend?: () => void;
}

/** Starts to send chunks of FILE from a source that lends; `done` is `sendChunks` itself. */
async function start(options: RunOptions = {}) {
  const { file = FILE, first = 0, end = COUNT, settled = true, mayEncode = false } = options;
  const source = new TestSource(file, { lends: true, ...options });
  const { offer } = await openTestOffer(source, options);
  if (settled) await offer.settled();
  const writes: Buffer[] = [];
  const sent: Sent[] = [];
  const waits: number[] = [];
  const frames = () =>
    decodeFrames(Buffer.concat([encodePreamble(), ...writes]), () => 16 * MIB).frames.map(
      ({ codec, content }) => ({
        codec,
        index: content.readUInt32BE(0),
        digest: content.subarray(4, 36),
        payload: content.subarray(36),
      }),
    );
  const run = sendChunks({
    offer,
    first,
    end,
    choice: new CodecChoice(
      { names: ['deflate'], automatic: false },
      mayEncode ? ['deflate'] : [],
      offer.payloads,
    ),
    waits: new Waits(),
    rate: options.rate ?? new RateLimit(undefined),
    signal: options.signal ?? never,
    send: async (parts) => {
      writes.push(Buffer.concat(parts));
      await turn();
      options.onSend?.();
    },
    frame: () => ({ before: [], after: [] }),
    sent: async (progress) => void sent.push(progress),
    whileWaiting: (wait) => {
      waits.push(frames().length);
      return wait;
    },
  });
  const done = run.finally(() => offer.close());
  done.catch(() => undefined);
  return { source, offer, writes, sent, waits, frames, done };
}

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

function sum(sent: readonly Sent[], field: 'rawBytes' | 'rawChunks' | 'encodedChunks'): number {
  return sent.reduce((total, progress) => total + progress[field], 0);
}
