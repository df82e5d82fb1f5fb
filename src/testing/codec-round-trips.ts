import { forAnyBytes } from './any-bytes.js';
import { assertSameBytes } from './assert-same-bytes.js';
import { randomBytes, textBytes, toShared } from './codec-samples.js';
import type { CodecSubject } from './codec-subject.js';
import type { ContractCase } from './contract-case.js';

const KIB = 1024;
const MIB = 1024 * KIB;
const SIZES = [1, 2, 15, 64 * KIB - 1, 64 * KIB, 64 * KIB + 1, MIB];

/** Whatever goes in comes out again. */
export function codecRoundTrips(subject: CodecSubject): ContractCase[] {
  return [
    {
      title: 'text and zeros of any size come back as they were',
      async run() {
        for (const size of SIZES) {
          await subject.assertRoundTrip(textBytes(size));
          await subject.assertRoundTrip(new Uint8Array(size));
        }
      },
    },
    {
      title: 'random bytes of any size come back as they were, unless they are refused',
      async run() {
        for (const size of SIZES) await subject.assertRoundTrip(randomBytes(size, size));
      },
    },
    {
      title: 'any bytes come back as they were',
      run: () => forAnyBytes((bytes) => subject.assertRoundTrip(bytes)),
    },
    {
      title: 'the largest chunk (16 MiB) comes back as it was',
      run: async () => {
        const { chunk, payload } = await subject.sample(16 * MIB);
        assertSameBytes(await subject.decode(payload, chunk.length), chunk);
      },
    },
    {
      title: 'chunks and payloads in shared memory are as good as any',
      async run() {
        const { chunk } = await subject.sample(64 * KIB);
        const payload = await subject.encode(toShared(chunk));
        if (payload === undefined) throw new Error('it refused a chunk in shared memory');
        assertSameBytes(await subject.decode(toShared(payload), chunk.length), chunk);
      },
    },
    {
      title: 'calls may overlap',
      async run() {
        const samples = await Promise.all(
          Array.from({ length: 16 }, (_, seed) => subject.sample(32 * KIB + seed, seed)),
        );
        const decoded = await Promise.all(
          samples.map(({ chunk, payload }) => subject.decode(payload, chunk.length)),
        );
        for (const [index, { chunk }] of samples.entries()) {
          assertSameBytes(decoded[index] as Uint8Array, chunk);
        }
      },
    },
    {
      title: 'every payload can be decoded alone, in any order',
      async run() {
        const samples = [];
        for (const seed of [1, 2, 1, 3]) samples.push(await subject.sample(8 * KIB, seed));
        for (const { chunk, payload } of samples.toReversed()) {
          assertSameBytes(await subject.decode(payload, chunk.length), chunk);
        }
      },
    },
  ];
}
