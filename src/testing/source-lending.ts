import assert from 'node:assert/strict';
import type { Loan } from '../core/source/chunk-source.js';
import { assertSameBytes } from './assert-same-bytes.js';
import type { ContractCase } from './contract-case.js';
import { deliverThroughSocket } from './deliver-through-socket.js';
import { sourceCase } from './source-case.js';
import type { SourceFixture } from './source-under-test.js';

const KIB = 1024;

/** Pages that only a socket may see; a source that lends nothing keeps all of this. */
export function sourceLending(fixture: SourceFixture): ContractCase[] {
  const size = fixture.content.length;
  const spans = [
    [0, 256 * KIB],
    [768 * KIB, 256 * KIB],
    [12 * KIB * 300, 12 * KIB],
    [8 * KIB * KIB, size - 8 * KIB * KIB],
  ].filter((span): span is [number, number] => {
    const [offset = 0, length = 0] = span;
    return length > 0 && offset + length <= size;
  });
  return [
    sourceCase('lent bytes arrive through a socket as they are', fixture, async (source, content) => {
      for (const [offset, length] of spans) {
        const loan = await source.lend?.(offset, length);
        if (loan === undefined) continue;
        assert.equal(loan.bytes.length, length);
        assertSameBytes(await deliver([loan]), content.subarray(offset, offset + length));
      }
    }),
    sourceCase('many may borrow the same bytes at once', fixture, async (source, content) => {
      const length = Math.min(size, 64 * KIB);
      const loans = await Promise.all(Array.from({ length: 8 }, async () => source.lend?.(0, length)));
      const lent = loans.filter((loan) => loan !== undefined);
      assertSameBytes(await deliver(lent), Buffer.concat(lent.map(() => content.subarray(0, length))));
    }),
    sourceCase('nothing is lent beyond the end', fixture, async (source) => {
      const tail = Math.min(10, size);
      for (const [offset, length] of [
        [size - tail, tail + 1],
        [size, 1],
      ] as const) {
        const loan = await source.lend?.(offset, length);
        loan?.release();
        assert.ok(loan === undefined, `it lent ${length} bytes at ${offset} of ${size}`);
      }
    }),
    sourceCase(
      'what is lent stays good after closing has begun, until it is back',
      fixture,
      async (source, content) => {
        const [offset, length] = spans[0] ?? [0, size];
        const loan = await source.lend?.(offset, length);
        const closing = source.close();
        if (loan !== undefined)
          assertSameBytes(await deliver([loan]), content.subarray(offset, offset + length));
        await closing;
      },
    ),
  ];
}

/** Sends the loans and gives them back, also when sending fails. */
async function deliver(loans: readonly Loan[]): Promise<Uint8Array> {
  try {
    return await deliverThroughSocket(loans.map(({ bytes }) => bytes));
  } finally {
    for (const loan of loans) loan.release();
  }
}
