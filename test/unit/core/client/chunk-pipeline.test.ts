import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { afterEach, describe, expect, test } from '@jest/globals';
import { ChunkPipeline } from '#dist/core/client/chunk-pipeline.js';
import type { Codec } from '#dist/core/codec/codec.js';
import type { RegisteredCodec } from '#dist/core/codec/codec-registry.js';
import { DigestThread } from '#dist/core/digest/digest-thread.js';
import { type ErrorCode, WireBoundError } from '#dist/core/errors.js';
import { Geometry } from '#dist/core/framing/geometry.js';
import { content } from '../../../support/content.js';
import { createGate, isPending } from '../../../support/gate.js';
import { prefixDigests } from '../../../support/prefix-digests.js';
import { TestSink } from '../../../support/test-sink.js';

const CHUNK_SIZE = 64 * 1024;
const FILE = content('log', 300 * CHUNK_SIZE - 77);
const DIGESTS = prefixDigests(FILE, CHUNK_SIZE);

const pipelines: ChunkPipeline[] = [];
const threads: DigestThread[] = [];
afterEach(async () => {
  await Promise.all(pipelines.splice(0).map((pipeline) => pipeline.close()));
  await Promise.all(threads.splice(0).map((thread) => thread.close()));
});

describe('ChunkPipeline', () => {
  test('chunks come out verified and written, in the order of the file', async () => {
    const { pipeline, sink, put } = start(300);
    for (let index = 0; index < 300; index++) await put(index);
    await pipeline.settle();
    expect(pipeline.verified).toBe(300);
    expect(pipeline.verifiedBytes).toBe(FILE.length);
    expect(Buffer.from(pipeline.lastDigest ?? [])).toEqual(DIGESTS.subarray(-32));
    expect(sink.bytes.equals(FILE)).toBe(true);
    const offsets = sink.writes.map(({ offset }) => offset);
    expect(offsets).toEqual([...offsets].sort((a, b) => a - b));
    expect(Math.max(...sink.writes.map(({ spans }) => spans))).toBeLessThanOrEqual(16);
  });

  test('without a sink chunks are verified and dropped', async () => {
    const { pipeline, put } = start(5, { sink: undefined });
    for (let index = 0; index < 5; index++) await put(index);
    await pipeline.settle();
    expect([pipeline.verified, pipeline.full]).toEqual([5, false]);
  });

  test('an empty file has nothing to wait for', async () => {
    const { pipeline } = start(0);
    await pipeline.settle();
    expect([pipeline.verified, pipeline.verifiedBytes, pipeline.lastDigest]).toEqual([0, 0, undefined]);
  });

  test('a sink that does not keep up stops the producer, and memory stays one ring', async () => {
    const gate = createGate();
    const { pipeline, put, events } = start(300, { beforeWrite: () => gate.opened });
    let index = 0;
    while (!pipeline.full) await put(index++);
    expect(index).toBe(pipeline.ring.slots - 1);
    expect(pipeline.ring.memory.byteLength).toBeLessThanOrEqual(16 * 1024 * 1024);
    const room = pipeline.room();
    expect(await isPending(room)).toBe(true);
    expect(events.roomAgain).toBe(0);
    gate.open();
    await room;
    expect(events.roomAgain).toBe(1);
    while (index < 300) await put(index++);
    await pipeline.settle();
  });

  test('a wrong chunk is dropped; what is verified is kept and written, all of it', async () => {
    const gate = createGate();
    const { pipeline, sink, put, events } = start(8, { beforeWrite: () => gate.opened });
    for (let index = 0; index < 8; index++) await put(index, { damaged: index === 5 });
    const failure = await events.failure;
    expect(failure).toMatchObject({
      code: 'DIGEST_MISMATCH',
      message: expect.stringMatching(
        /^SHA-256 mismatch at chunk 5 of 8: up to there it is [0-9a-f]{64} and should be [0-9a-f]{64}$/,
      ),
    });
    expect(failure.message.endsWith(DIGESTS.subarray(160, 192).toString('hex'))).toBe(true);
    expect(pipeline.verified).toBe(5);
    gate.open();
    await expect(pipeline.settle()).rejects.toBe(failure);
    await pipeline.rewind();
    expect([pipeline.next, pipeline.verified, pipeline.failure]).toEqual([5, 5, undefined]);
    expect(sink.bytes.subarray(0, 5 * CHUNK_SIZE).equals(FILE.subarray(0, 5 * CHUNK_SIZE))).toBe(true);
    expect(sink.bytes.subarray(5 * CHUNK_SIZE).every((byte) => byte === 0)).toBe(true);
    for (let index = 5; index < 8; index++) await put(index);
    await pipeline.settle();
    expect(sink.bytes.equals(FILE.subarray(0, sink.bytes.length))).toBe(true);
  });

  test('the same chunk may fail again and again without harm to the ones before it', async () => {
    const { pipeline, sink, put } = start(4);
    await put(0);
    await put(1);
    for (let attempt = 0; attempt < 3; attempt++) {
      await put(2, { damaged: true });
      await put(3);
      await expect(pipeline.settle()).rejects.toMatchObject({ code: 'DIGEST_MISMATCH' });
      await pipeline.rewind();
      expect(pipeline.next).toBe(2);
    }
    await put(2);
    await put(3);
    await pipeline.settle();
    expect(sink.bytes.equals(FILE.subarray(0, sink.bytes.length))).toBe(true);
  });

  test('a rewind without a failure drops nothing that was handed in', async () => {
    const { pipeline, sink, put } = start(6);
    for (let index = 0; index < 4; index++) await put(index);
    await pipeline.rewind();
    expect(pipeline.next).toBe(4);
    expect(sink.bytes.subarray(0, 4 * CHUNK_SIZE).equals(FILE.subarray(0, 4 * CHUNK_SIZE))).toBe(true);
    await put(4);
    await put(5);
    await pipeline.settle();
  });

  test('a restart begins at the first byte', async () => {
    const { pipeline, put } = start(3);
    for (let index = 0; index < 3; index++) await put(index);
    await pipeline.rewind(true);
    expect([pipeline.next, pipeline.verified, pipeline.lastDigest]).toEqual([0, 0, undefined]);
    for (let index = 0; index < 3; index++) await put(index);
    await pipeline.settle();
    expect(pipeline.verified).toBe(3);
  });
});

describe('a failing sink', () => {
  const full = new WireBoundError('SINK_FULL', 'no space left');

  test('fails the pipeline with what it said, and wakes whoever waits for room', async () => {
    const { pipeline, put, events } = start(300, {
      beforeWrite: () => {
        throw full;
      },
    });
    let index = 0;
    while (!pipeline.full && pipeline.failure === undefined) await put(index++);
    await pipeline.room();
    expect(await events.failure).toBe(full);
    await expect(pipeline.settle()).rejects.toBe(full);
  });

  test('stays failed: no rewind forgets the bytes that were not written', async () => {
    const { pipeline, sink, put } = start(4, {
      beforeWrite: () => {
        if (sink.writes.length === 1) throw full;
      },
    });
    await put(0);
    await put(1);
    await expect(pipeline.settle()).rejects.toBe(full);
    await expect(pipeline.rewind()).rejects.toBe(full);
    await expect(pipeline.rewind(true)).rejects.toBe(full);
    await expect(pipeline.settle()).rejects.toBe(full);
    expect(sink.writes.length).toBe(1);
  });

  test('is not hidden by a mismatch that was noticed first', async () => {
    const gate = createGate();
    const { pipeline, put, events } = start(4, {
      beforeWrite: async () => {
        await gate.opened;
        throw full;
      },
    });
    await put(0);
    await put(1, { damaged: true });
    expect((await events.failure).code).toBe('DIGEST_MISMATCH');
    gate.open();
    await expect(pipeline.rewind()).rejects.toBe(full);
  });

  test('an error of any kind becomes SINK_FAILED', async () => {
    const { pipeline, put } = start(1, {
      beforeWrite: () => {
        throw new Error('EIO');
      },
    });
    await put(0);
    await expect(pipeline.settle()).rejects.toMatchObject({ code: 'SINK_FAILED', message: 'EIO' });
  });
});

const module = import.meta.resolve('#dist/plugins/codecs/deflate.js');
const deflate: Codec = {
  name: 'deflate',
  encode: (chunk) => deflateRawSync(chunk),
  decode: (payload) => inflateRawSync(payload),
};

describe.each<[string, RegisteredCodec]>([
  ['a codec module', { codec: deflate, origin: 'built-in', module }],
  ['a codec given as an object', { codec: deflate, origin: 'given' }],
  [
    'an asynchronous codec given as an object',
    {
      codec: {
        ...deflate,
        decode: async (payload) => {
          await new Promise((resolve) => setTimeout(resolve, payload.length % 5));
          return inflateRawSync(payload);
        },
      },
      origin: 'given',
    },
  ],
])('%s', (_, codec) => {
  test('decodes its chunks, and raw ones among them stay in order', async () => {
    const { pipeline, sink, put } = start(40, { codecs: [codec] });
    for (let index = 0; index < 40; index++) await put(index, { codec: index % 3 === 0 ? 0 : 1 });
    await pipeline.settle();
    expect(sink.bytes.equals(FILE.subarray(0, sink.bytes.length))).toBe(true);
    expect(pipeline.times.decodeMs).toBeGreaterThan(0);
  });

  test('names the chunk it cannot decode; everything before it is kept', async () => {
    const { pipeline, sink, put } = start(12, { codecs: [codec] });
    for (let attempt = 0; attempt < 3; attempt++) {
      for (let index = pipeline.next; index < 12; index++) {
        await put(index, { codec: index % 2, damaged: index === 7 });
      }
      await expect(pipeline.settle()).rejects.toMatchObject({
        code: 'CODEC_FAILED' satisfies ErrorCode,
        message: expect.stringMatching(
          /^chunk 7 of 12: deflate could not decode \d+ bytes into a chunk of 65536: /,
        ),
      });
      await pipeline.rewind();
      expect([pipeline.next, pipeline.verified]).toEqual([7, 7]);
    }
    for (let index = 7; index < 12; index++) await put(index, { codec: index % 2 });
    await pipeline.settle();
    expect(sink.bytes.equals(FILE.subarray(0, sink.bytes.length))).toBe(true);
  });
});

test('raw transfers do not need codecs to work in a thread', async () => {
  const broken = { codec: deflate, origin: 'given', module: 'file:///nowhere/at/all.js' };
  const { pipeline, put } = start(2, { codecs: [broken] });
  await put(0);
  await put(1, { codec: 1 });
  await expect(pipeline.settle()).rejects.toMatchObject({
    code: 'CODEC_FAILED',
    message: expect.stringContaining('chunk 1 of 2: plugin file:///nowhere/at/all.js cannot be loaded'),
  });
  expect(pipeline.verified).toBe(1);
});

interface PipelineOptions {
  readonly sink?: undefined;
  readonly codecs?: readonly RegisteredCodec[];
  readonly beforeWrite?: (offset: number) => void | Promise<void>;
}

/** A pipeline for the first `count` chunks of FILE, written into a sink in memory. */
function start(count: number, options: PipelineOptions = {}) {
  const size = Math.min(FILE.length, count * CHUNK_SIZE);
  const sink = new TestSink(size, options.beforeWrite);
  let failed!: (error: WireBoundError) => void;
  const failure = new Promise<WireBoundError>((resolve) => {
    failed = resolve;
  });
  const events = { roomAgain: 0, failure };
  const thread = new DigestThread();
  const pipeline = new ChunkPipeline(new Geometry(size, CHUNK_SIZE), options.codecs ?? [], thread, {
    roomAgain: () => void events.roomAgain++,
    failed: (error) => failed(error),
  });
  if (!('sink' in options)) pipeline.sink = sink;
  pipelines.push(pipeline);
  threads.push(thread);
  const put = async (index: number, chunk: { codec?: number; damaged?: boolean } = {}) => {
    const { codec = 0, damaged = false } = chunk;
    await pipeline.room();
    expect(pipeline.next).toBe(index);
    const raw = FILE.subarray(index * CHUNK_SIZE, Math.min(size, (index + 1) * CHUNK_SIZE));
    const payload = Buffer.from(codec === 0 ? raw : deflateRawSync(raw));
    if (damaged) payload.fill(0xff, 0, 20);
    pipeline.ring.chunk(index, payload.length).set(payload);
    pipeline.ring.digest(index).set(DIGESTS.subarray(index * 32, index * 32 + 32));
    pipeline.submit(codec, payload.length);
  };
  return { pipeline, sink, put, events };
}
