import { deflateRawSync } from 'node:zlib';
import { afterEach, describe, expect, test } from '@jest/globals';
import { ChunkIntake } from '#dist/core/client/chunk-intake.js';
import { ChunkPipeline } from '#dist/core/client/chunk-pipeline.js';
import { DigestThread } from '#dist/core/digest/digest-thread.js';
import { encodeChunkHeader, encodePreamble } from '#dist/core/framing/encode-frame.js';
import { PAYLOAD_LIMITS } from '#dist/core/framing/frame.js';
import { FrameDecoder } from '#dist/core/framing/frame-decoder.js';
import { Geometry } from '#dist/core/framing/geometry.js';
import deflate from '#dist/plugins/codecs/deflate.js';
import { content } from '../../../support/content.js';
import { feedDecoder } from '../../../support/feed-decoder.js';
import { createGate } from '../../../support/gate.js';
import { prefixDigests } from '../../../support/prefix-digests.js';
import { TestSink } from '../../../support/test-sink.js';

const CHUNK_SIZE = 64 * 1024;
const FILE = content('log', 3 * CHUNK_SIZE + 100);
const DIGESTS = prefixDigests(FILE, CHUNK_SIZE);
const END = Buffer.of(7, 0, 0, 0, 0, 0, 0, 0);

const pipelines: ChunkPipeline[] = [];
const threads: DigestThread[] = [];
afterEach(async () => {
  await Promise.all(pipelines.splice(0).map((pipeline) => pipeline.close()));
  await Promise.all(threads.splice(0).map((thread) => thread.close()));
});

describe('ChunkIntake', () => {
  test('chunks raw and encoded, cut anywhere, become the file', async () => {
    const stream = Buffer.concat([chunk(0), chunk(1, { codec: 2 }), chunk(2, { codec: 1 }), chunk(3), END]);
    for (const step of [1, 43, 44, 45, 8191, stream.length]) {
      const { pipeline, sink, intake, feed } = start();
      await feed(stream, step);
      intake.end();
      await pipeline.settle();
      expect(sink.bytes.equals(FILE)).toBe(true);
    }
  });

  test('a payload arrives where it stays: in the ring, behind its digest', async () => {
    const { pipeline, feed } = start({ sink: false });
    await feed(chunk(0), CHUNK_SIZE);
    const { ring } = pipeline;
    expect(Buffer.from(ring.chunk(0, CHUNK_SIZE))).toEqual(FILE.subarray(0, CHUNK_SIZE));
    expect(Buffer.from(ring.digest(0))).toEqual(DIGESTS.subarray(0, 32));
  });

  test.each([
    ['a chunk left out', [0, 2], 'chunk 2 came where chunk 1 of 4 was due'],
    ['a chunk twice', [0, 1, 1], 'chunk 1 came where chunk 2 of 4 was due'],
    ['the last chunk first', [3], 'chunk 0 of 4 has 100 bytes of payload for 65536 raw ones'],
    ['chunks shifted by one', [1], 'chunk 1 came where chunk 0 of 4 was due'],
  ])('%s is refused', async (_, indexes, message) => {
    const { feed } = start();
    await expect(feed(Buffer.concat(indexes.map((index) => chunk(index))), 8192)).rejects.toMatchObject({
      code: 'PROTOCOL',
      message,
    });
  });

  test.each([4, 9999, 0xffff_ffff])('index %i, which the file does not have, is refused', async (index) => {
    const { feed } = start();
    await expect(feed(chunk(0, { index }), 8192)).rejects.toMatchObject({
      code: 'PROTOCOL',
      message: `chunk ${index} came where chunk 0 of 4 was due`,
    });
  });

  test.each([
    ['empty', 0, 0],
    ['raw and a byte short', 0, CHUNK_SIZE - 1],
    ['encoded and empty', 1, 0],
    ['encoded and not shorter than raw', 1, CHUNK_SIZE],
  ])('a payload that is %s is refused with its header', async (_, codec, length) => {
    const { pipeline, feed } = start();
    const header = encodeChunkHeader(codec, 0, 0, length, DIGESTS.subarray(0, 32)).subarray(0, 8);
    await expect(feed(header, 8)).rejects.toMatchObject({
      code: 'PROTOCOL',
      message: `chunk 0 of 4 has ${length} bytes of payload for 65536 raw ones`,
    });
    expect(pipeline.next).toBe(0);
  });

  test('the last chunk may be no longer than the file', async () => {
    const { feed } = start();
    await feed(Buffer.concat([chunk(0), chunk(1), chunk(2)]), 8192);
    const header = encodeChunkHeader(0, 0, 3, 101, DIGESTS.subarray(0, 32)).subarray(0, 8);
    await expect(feed(header, 8)).rejects.toMatchObject({
      code: 'PROTOCOL',
      message: 'a frame of type chunk announces 101 bytes, the limit is 100',
    });
  });

  test.each([
    [0, 'more than the 4 chunks came'],
    [1, 'a frame of type chunk announces 1 bytes, the limit is 0'],
  ])('a chunk of %i bytes behind the last one is refused', async (length, message) => {
    const { feed } = start();
    await feed(Buffer.concat([chunk(0), chunk(1), chunk(2), chunk(3)]), 8192);
    const header = encodeChunkHeader(0, 0, 4, length, DIGESTS.subarray(0, 32)).subarray(0, 8);
    await expect(feed(header, 8)).rejects.toMatchObject({ code: 'PROTOCOL', message });
  });

  test.each([3, 127, 255])('codec number %i, which is not in the manifest, is refused', async (codec) => {
    const { feed } = start();
    const header = encodeChunkHeader(codec, 0, 0, 10, DIGESTS.subarray(0, 32)).subarray(0, 8);
    await expect(feed(header, 8)).rejects.toMatchObject({
      code: 'PROTOCOL',
      message: `chunk 0 of 4 names the unknown codec number ${codec}`,
    });
  });

  test('an entry that does not exist is refused', async () => {
    const { feed } = start();
    const header = encodeChunkHeader(0, 1, 0, CHUNK_SIZE, DIGESTS.subarray(0, 32)).subarray(0, 8);
    await expect(feed(header, 8)).rejects.toMatchObject({
      code: 'PROTOCOL',
      message: 'chunk 0 of 4 is of entry 1, there is only entry 0',
    });
  });

  test.each([
    [0, 0],
    [1, CHUNK_SIZE],
    [3, 3 * CHUNK_SIZE],
  ])('an End after %i of 4 chunks is refused, with the bytes that came', async (count, bytes) => {
    const { intake, feed } = start();
    for (let index = 0; index < count; index++) await feed(chunk(index), 8192);
    expect(() => intake.end()).toThrow(
      expect.objectContaining({
        code: 'PROTOCOL',
        message: `the server ended after ${bytes} of ${FILE.length} bytes`,
      }),
    );
  });

  test('it is full when the pipeline is', async () => {
    const gate = createGate();
    const { intake, feed } = start({ beforeWrite: () => gate.opened });
    for (let index = 0; index < 3; index++) {
      expect(intake.full).toBe(false);
      await feed(chunk(index), 8192);
    }
    await feed(chunk(3), 8192);
    expect(intake.full).toBe(true);
    gate.open();
  });
});

/** The frame of chunk `index`; `codec` as a number of the manifest, `index` to claim another one. */
function chunk(index: number, options: { readonly codec?: number; readonly index?: number } = {}): Buffer {
  const { codec = 0, index: claimed = index } = options;
  const raw = FILE.subarray(index * CHUNK_SIZE, (index + 1) * CHUNK_SIZE);
  const payload = codec === 0 ? raw : deflateRawSync(raw);
  const digest = DIGESTS.subarray(index * 32, index * 32 + 32);
  return Buffer.concat([encodeChunkHeader(codec, 0, claimed, payload.length, digest), payload]);
}

interface IntakeOptions {
  readonly sink?: boolean;
  readonly beforeWrite?: () => Promise<void>;
}

/** An intake behind a decoder, as a connection has it; both codec numbers of the manifest mean deflate. */
function start({ sink: withSink = true, beforeWrite }: IntakeOptions = {}) {
  const sink = new TestSink(FILE.length, beforeWrite);
  const module = import.meta.resolve('#dist/plugins/codecs/deflate.js');
  const codecs = deflate.codecs.map((codec) => ({ codec, origin: 'built-in', module }));
  const thread = new DigestThread();
  const pipeline = new ChunkPipeline(new Geometry(FILE.length, CHUNK_SIZE), codecs, thread, {
    roomAgain: () => undefined,
    failed: () => undefined,
  });
  pipelines.push(pipeline);
  threads.push(thread);
  if (withSink) pipeline.sink = sink;
  const intake = new ChunkIntake(pipeline, [1, 1]);
  const decoder = new FrameDecoder({
    limit: (type) => (type === 'chunk' ? intake.payloadLimit : PAYLOAD_LIMITS[type]),
    place: (header) => (header.type === 'chunk' ? intake.place(header) : undefined),
    receive: (frame) => {
      if (frame.header.type === 'chunk') intake.receive(frame);
    },
  });
  feedDecoder(decoder, encodePreamble());
  const feed = async (bytes: Buffer, step: number) => {
    for (let at = 0; at < bytes.length; at += step) {
      feedDecoder(decoder, bytes.subarray(at, at + step));
      if (intake.full && beforeWrite === undefined) await pipeline.room();
    }
  };
  return { pipeline, sink, intake, feed };
}
