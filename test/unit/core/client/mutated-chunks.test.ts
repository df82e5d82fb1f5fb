import { afterAll, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { ChunkPipeline } from '#dist/core/client/chunk-pipeline.js';
import type { Codec } from '#dist/core/codec/codec.js';
import type { RegisteredCodec } from '#dist/core/codec/codec-registry.js';
import { DigestThread } from '#dist/core/digest/digest-thread.js';
import { Geometry } from '#dist/core/framing/geometry.js';
import deflatePlugin from '#dist/plugins/codecs/deflate.js';
import lz4Plugin from '#dist/plugins/codecs/lz4.js';
import { content } from '../../../support/content.js';
import { type Mutation, mutate, mutation } from '../../../support/mutate.js';
import { prefixDigests } from '../../../support/prefix-digests.js';
import { TestSink } from '../../../support/test-sink.js';

const CHUNK_SIZE = 64 * 1024;
const COUNT = 150;
const FILE = content('log', COUNT * CHUNK_SIZE);
const DIGESTS = prefixDigests(FILE, CHUNK_SIZE);
/** So many forged chunks come before each right one. */
const FORGED = 10;

const thread = new DigestThread();
afterAll(() => thread.close());

test('1,500 chunks that were tampered with on the way are refused, and never take what is verified with them', async () => {
  const codecs = [registered('lz4', lz4Plugin.codecs[0]), registered('deflate', deflatePlugin.codecs[0])];
  const sink = new TestSink(FILE.length);
  const geometry = new Geometry(FILE.length, CHUNK_SIZE);
  const pipeline = new ChunkPipeline(geometry, codecs, thread, {
    roomAgain: () => undefined,
    failed: () => undefined,
  });
  pipeline.sink = sink;
  const put = (codec: number, payload: Uint8Array) => {
    const index = pipeline.next;
    pipeline.ring.chunk(index, payload.length).set(payload);
    pipeline.ring.digest(index).set(DIGESTS.subarray(index * 32, index * 32 + 32));
    pipeline.submit(codec, payload.length);
    return pipeline.settle();
  };
  const forgeries = fc.sample(
    fc.tuple(fc.constantFrom(1, 2), fc.array(mutation, { minLength: 1, maxLength: 3 })),
    { numRuns: FORGED * COUNT, seed: 0x57697265 },
  );
  const codes = new Map<string, number>();
  const forge = async (payloads: readonly Uint8Array[], codec: number, mutations: readonly Mutation[]) => {
    const payload = payloads[codec - 1] as Uint8Array;
    // What is longer than a chunk, or empty, does not come past the frame decoder.
    const forged = mutate(payload, mutations).subarray(0, CHUNK_SIZE - 1);
    if (forged.length === 0 || forged.equals(payload)) return;
    const before = pipeline.verified;
    const code = await put(codec, forged).then(
      () => 'decodes to the same',
      (error: { readonly code: string }) => error.code,
    );
    codes.set(code, (codes.get(code) ?? 0) + 1);
    if (pipeline.verified === before) await pipeline.rewind();
  };
  while (pipeline.verified < COUNT) {
    const index = pipeline.verified;
    const raw = FILE.subarray(index * CHUNK_SIZE, (index + 1) * CHUNK_SIZE);
    const payloads = await Promise.all(codecs.map(({ codec }) => codec.encode(raw)));
    for (const forgery of forgeries.splice(0, FORGED)) {
      if (pipeline.verified === index) await forge(payloads, ...forgery);
    }
    if (pipeline.verified === index) await put(1 + (index % 2), payloads[index % 2] as Uint8Array);
  }
  expect(Buffer.from(pipeline.lastDigest ?? [])).toEqual(DIGESTS.subarray(-32));
  expect(sink.bytes.equals(FILE)).toBe(true);
  expect([...codes.keys()].filter((code) => !code.startsWith('decodes')).sort()).toEqual([
    'CODEC_FAILED',
    'DIGEST_MISMATCH',
  ]);
  await pipeline.close();
});

function registered(name: string, codec: Codec | undefined): RegisteredCodec {
  const module = new URL(`../../../../dist/plugins/codecs/${name}.js`, import.meta.url).href;
  return { codec: codec as Codec, origin: 'built-in', module };
}
