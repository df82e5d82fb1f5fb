import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { Codec } from '#dist/core/codec/codec.js';
import { decodePayload } from '#dist/core/codec/decode-payload.js';
import { WireBoundError } from '#dist/core/errors.js';
import deflatePlugin from '#dist/plugins/codecs/deflate.js';
import lz4Plugin from '#dist/plugins/codecs/lz4.js';
import { content } from '../../../support/content.js';
import { type Mutation, mutate, mutation } from '../../../support/mutate.js';
import { runModule } from '../../../support/run-module.js';

const RAW_LENGTH = 4096;
const SEED = 0x57697265;

/** Chunks that differ in what makes a codec work: matches near and far, runs, nothing to find. */
const CHUNKS: readonly Uint8Array[] = [
  content('log', RAW_LENGTH),
  Buffer.concat([content('random', RAW_LENGTH / 2), content('random', RAW_LENGTH / 2)]),
  Buffer.alloc(RAW_LENGTH, 'abcdefg'),
  Buffer.concat([Buffer.alloc(RAW_LENGTH - 64), content('random', 64)]),
];

describe('payloads that were tampered with, 100,000 of them', () => {
  test.each([
    ['lz4', lz4Plugin.codecs[0] as Codec, 90_000],
    ['deflate', deflatePlugin.codecs[0] as Codec, 10_000], // ten times as slow
  ])('%s gives as many bytes as the chunk has, or CODEC_FAILED', async (_, codec, numRuns) => {
    const payloads = await Promise.all(CHUNKS.map((chunk) => codec.encode(chunk)));
    let refused = 0;
    let accepted = 0;
    const decode = (which: number, mutations: readonly Mutation[], rawLength: number) => {
      const payload = mutate(payloads[which] as Uint8Array, mutations);
      try {
        void decodePayload(codec, payload, new Uint8Array(rawLength));
        accepted++;
        return true;
      } catch (error) {
        refused++;
        return error instanceof WireBoundError && error.code === 'CODEC_FAILED';
      }
    };
    const property = fc.property(
      fc.nat({ max: CHUNKS.length - 1 }),
      fc.array(mutation, { minLength: 1, maxLength: 4 }),
      fc.constantFrom(RAW_LENGTH, RAW_LENGTH, RAW_LENGTH, RAW_LENGTH - 1, RAW_LENGTH + 1, 1, 65_536),
      decode,
    );
    fc.assert(property, { numRuns, seed: SEED });
    // Were all of one kind, the mutations would test little.
    expect(refused).toBeGreaterThan(numRuns / 10);
    expect(accepted).toBeGreaterThan(numRuns / 100);
  });

  test('bombs, and lengths that are lies, take no more memory than a chunk', async () => {
    const { stdout, stderr } = await runModule(BOMBS).finished;
    expect(stderr).toBe('');
    const { refused, grownBytes } = JSON.parse(stdout) as { refused: number; grownBytes: number };
    expect(refused).toBe(400);
    expect(grownBytes).toBeLessThan(32 * 1024 * 1024);
  });
});

/** Decodes payloads that stand for a gigabyte as chunks of 256 KiB, and tells how far peak memory rose. */
const BOMBS = `
  import { deflateRawSync } from 'node:zlib';
  import { decodePayload } from '#dist/core/codec/decode-payload.js';
  import deflate from '#dist/plugins/codecs/deflate.js';
  import lz4 from '#dist/plugins/codecs/lz4.js';
  const RAW_LENGTH = 262_144;
  const inflatesTo64MiB = deflateRawSync(Buffer.alloc(2 ** 26));
  // An LZ4 block: one literal, then a match of offset 1 whose length goes on for 4 MiB of 255s.
  const matchOfOneGiB = Buffer.concat([Buffer.from([0x1f, 7, 1, 0]), Buffer.alloc(2 ** 22, 255), Buffer.from([0])]);
  const prefixed = Buffer.concat([Buffer.from([255, 255, 255, 255]), Buffer.alloc(1043, 7)]);
  const payloads = [[deflate, inflatesTo64MiB], [lz4, matchOfOneGiB], [lz4, prefixed], [deflate, prefixed]];
  const chunk = new Uint8Array(RAW_LENGTH);
  const attempt = () => payloads.filter(([{ codecs: [codec] }, payload]) => {
    try {
      decodePayload(codec, payload, chunk);
      return false;
    } catch (error) {
      return error.code === 'CODEC_FAILED';
    }
  }).length;
  attempt();
  const before = process.resourceUsage().maxRSS;
  let refused = 0;
  for (let round = 0; round < 100; round++) refused += attempt();
  console.log(JSON.stringify({ refused, grownBytes: (process.resourceUsage().maxRSS - before) * 1024 }));
`;
