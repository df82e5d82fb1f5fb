import assert from 'node:assert/strict';
import type { Codec } from '../core/codec/codec.js';
import { decodePayload } from '../core/codec/decode-payload.js';
import { WireBoundError } from '../core/errors.js';
import { forgedPrefixes, mutations, randomBytes, textBytes, toShared } from './codec-samples.js';
import type { ContractCase } from './contract-case.js';
import { peakMemory } from './peak-memory.js';

const KIB = 1024;
const MIB = 1024 * KIB;
const MEMORY_ALLOWANCE = 256 * MIB;

/**
 * What every codec must keep, whatever the test runner:
 *
 *     for (const { title, run } of codecContract(codec)) test(title, run);
 *
 * A codec may refuse to encode what does not shrink (it throws, or returns nothing), and may decode a corrupt
 * payload into wrong bytes of the right length (the digest finds that); it may never crash the process, touch or
 * keep its input, or allocate by a number that it found in a payload.
 */
export function codecContract(codec: Codec): ContractCase[] {
  return [...roundTrips(codec), ...ownership(codec), ...hostilePayloads(codec)];
}

function roundTrips(codec: Codec): ContractCase[] {
  const sizes = [1, 2, 15, 64 * KIB - 1, 64 * KIB, 64 * KIB + 1, MIB];
  return [
    {
      title: 'text and zeros of any size come back as they were',
      async run() {
        for (const size of sizes) {
          await assertRoundTrip(codec, textBytes(size));
          await assertRoundTrip(codec, new Uint8Array(size));
        }
      },
    },
    {
      title: 'random bytes of any size come back as they were, unless they are refused',
      async run() {
        for (const size of sizes) await assertRoundTripIfEncoded(codec, randomBytes(size, size));
      },
    },
    {
      title: 'the largest chunk (16 MiB) comes back as it was',
      run: () => assertRoundTrip(codec, textBytes(16 * MIB)),
    },
    {
      title: 'chunks and payloads in shared memory are as good as any',
      async run() {
        const chunk = textBytes(64 * KIB);
        const payload = await codec.encode(toShared(chunk));
        assertSameBytes(await decodePayload(codec, toShared(payload), chunk.length), chunk);
      },
    },
    {
      title: 'calls may overlap',
      async run() {
        const chunks = Array.from({ length: 16 }, (_, seed) => textBytes(32 * KIB + seed, seed));
        const payloads = await Promise.all(chunks.map((chunk) => codec.encode(chunk)));
        const decoded = await Promise.all(
          payloads.map((payload, index) => decodePayload(codec, payload, chunks[index]?.length ?? 0)),
        );
        decoded.forEach((bytes, index) => {
          assertSameBytes(bytes, chunks[index]);
        });
      },
    },
  ];
}

function ownership(codec: Codec): ContractCase[] {
  return [
    {
      title: 'input is never changed',
      async run() {
        const chunk = textBytes(64 * KIB);
        const payload = await codec.encode(chunk);
        assertSameBytes(chunk, textBytes(64 * KIB));
        const copy = new Uint8Array(payload);
        await decodePayload(codec, payload, chunk.length);
        assertSameBytes(payload, copy);
      },
    },
    {
      title: 'output is no view of the input',
      async run() {
        const chunk = textBytes(64 * KIB);
        const payload = new Uint8Array(await codec.encode(chunk));
        const encoded = await codec.encode(chunk);
        chunk.fill(0xff);
        assertSameBytes(encoded, payload);
        const decoded = await decodePayload(codec, payload, chunk.length);
        payload.fill(0xff);
        assertSameBytes(decoded, textBytes(64 * KIB));
      },
    },
    {
      title: 'output of one call survives the next ones',
      async run() {
        const [first, second] = [textBytes(64 * KIB, 1), textBytes(64 * KIB, 2)];
        const payload = await codec.encode(first);
        const copy = new Uint8Array(payload);
        const other = await codec.encode(second);
        assertSameBytes(payload, copy);
        const decoded = await decodePayload(codec, payload, first.length);
        await decodePayload(codec, other, second.length);
        assertSameBytes(decoded, first);
      },
    },
  ];
}

function hostilePayloads(codec: Codec): ContractCase[] {
  const rawLength = 64 * KIB;
  return [
    {
      // First, because a codec that trusts a size does so with random payloads too, and the peak stays.
      title: 'a number in a payload never decides how much memory is taken',
      async run() {
        const payload = await codec.encode(textBytes(rawLength));
        const before = peakMemory();
        for (const bad of forgedPrefixes(payload)) {
          await decodeOrRefuse(codec, bad, rawLength);
          const taken = peakMemory() - before;
          assert.ok(taken < MEMORY_ALLOWANCE, `took ${taken} bytes for a chunk of ${rawLength}`);
        }
      },
    },
    {
      title: 'an empty payload is refused',
      run: async () => assert.equal(await decodeOrRefuse(codec, new Uint8Array(0), rawLength), undefined),
    },
    {
      title: 'a payload of another raw length is refused',
      async run() {
        const payload = await codec.encode(textBytes(rawLength));
        for (const wrong of [1, rawLength / 2, rawLength - 1, rawLength + 1, rawLength * 2]) {
          const decoded = await decodeOrRefuse(codec, payload, wrong);
          assert.equal(decoded, undefined, `decoded ${rawLength} bytes into ${wrong}`);
        }
      },
    },
    {
      title: 'a payload that was cut, changed or made up is refused, or gives bytes of the right length',
      async run() {
        const payload = await codec.encode(textBytes(rawLength));
        const copy = new Uint8Array(payload);
        for (const bad of mutations(payload)) await decodeOrRefuse(codec, bad, rawLength);
        assertSameBytes(payload, copy);
        assertSameBytes(await decodePayload(codec, payload, rawLength), textBytes(rawLength));
      },
    },
  ];
}

async function assertRoundTrip(codec: Codec, chunk: Uint8Array): Promise<void> {
  assertSameBytes(await decodePayload(codec, await codec.encode(chunk), chunk.length), chunk);
}

async function assertRoundTripIfEncoded(codec: Codec, chunk: Uint8Array): Promise<void> {
  let payload: Uint8Array;
  try {
    payload = await codec.encode(chunk);
  } catch {
    return;
  }
  if (payload.length > 0) assertSameBytes(await decodePayload(codec, payload, chunk.length), chunk);
}

/** The bytes, of the right length, or undefined when the payload was refused as it should be. */
async function decodeOrRefuse(
  codec: Codec,
  payload: Uint8Array,
  rawLength: number,
): Promise<Uint8Array | undefined> {
  try {
    return await decodePayload(codec, payload, rawLength);
  } catch (error) {
    assert.ok(error instanceof WireBoundError && error.code === 'CODEC_FAILED');
    return undefined;
  }
}

/** Like deepEqual, without printing megabytes when it fails. */
function assertSameBytes(actual: Uint8Array, expected: Uint8Array | undefined): void {
  assert.ok(expected !== undefined && Buffer.compare(actual, expected) === 0, 'the bytes differ');
}
