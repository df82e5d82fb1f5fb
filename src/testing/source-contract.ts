import assert from 'node:assert/strict';
import { createCipheriv } from 'node:crypto';
import type { ChunkSource, Loan } from '../core/source/chunk-source.js';
import type { ContractCase } from './contract-case.js';
import { deliverThroughSocket } from './deliver-through-socket.js';

const KIB = 1024;
/** No multiple of anything, and larger than what a source is likely to keep in one piece. */
const SIZE = 9 * KIB * KIB + 4321;

/** A source over the content that was asked for, and how to take away what was set up for it. */
export interface SourceUnderTest {
  readonly source: ChunkSource;
  dispose?(): Promise<void>;
}

/** Opens a source over exactly this content. */
export type MakeSource = (content: Uint8Array) => Promise<SourceUnderTest>;

/**
 * What every source must keep, whatever the test runner:
 *
 *     for (const { title, run } of sourceContract(make)) test(title, run);
 *
 * Lent pages are only ever handed to a socket, as the product does it.
 */
export function sourceContract(make: MakeSource): ContractCase[] {
  return [...reading(make), ...standing(make), ...lending(make)];
}

function reading(make: MakeSource): ContractCase[] {
  return [
    contractCase('every byte can be read, at odd offsets and lengths', make, async (source, content) => {
      const length = 317 * KIB + 13;
      for (let offset = 0; offset < SIZE; offset += length) {
        assertSame(await readSpan(source, offset, length), content.subarray(offset, offset + length));
      }
    }),
    contractCase('a read is short only at the end, and 0 beyond it', make, async (source) => {
      assert.equal(await source.read(SIZE - 7, new Uint8Array(8)), 7);
      assert.equal(await source.read(SIZE - 8, new Uint8Array(8)), 8);
      assert.equal(await source.read(SIZE, new Uint8Array(8)), 0);
      assert.equal(await source.read(SIZE + 1_000_000, new Uint8Array(8)), 0);
    }),
    contractCase('a read leaves alone what lies beyond the bytes it counts', make, async (source) => {
      const into = new Uint8Array(8).fill(0xaa);
      await source.read(SIZE - 3, into);
      assert.deepEqual([...into.subarray(3)], [0xaa, 0xaa, 0xaa, 0xaa, 0xaa]);
    }),
    contractCase('reads may go to shared memory', make, async (source, content) => {
      const into = new Uint8Array(new SharedArrayBuffer(64 * KIB));
      assert.equal(await source.read(12_345, into), into.length);
      assertSame(into, content.subarray(12_345, 12_345 + into.length));
    }),
    contractCase('reads may overlap in time and in place', make, async (source, content) => {
      const offsets = Array.from({ length: 24 }, (_, index) => (index * 700_001) % (SIZE - 256 * KIB));
      const spans = await Promise.all(offsets.map((offset) => readSpan(source, offset, 256 * KIB)));
      spans.forEach((span, index) => {
        const offset = offsets[index] ?? 0;
        assertSame(span, content.subarray(offset, offset + 256 * KIB));
      });
    }),
    {
      title: 'empty content is a source of size 0',
      run: () =>
        withSource(make, new Uint8Array(0), async (source) => {
          assert.equal(source.size, 0);
          assert.equal(await source.read(0, new Uint8Array(8)), 0);
        }),
    },
  ];
}

function standing(make: MakeSource): ContractCase[] {
  return [
    contractCase('name and size are told at once and do not change', make, async (source) => {
      const { name } = source;
      assert.match(name, /^[^/\0]+$/);
      assert.equal(source.size, SIZE);
      await source.read(0, new Uint8Array(64 * KIB));
      assert.equal(source.name, name);
      assert.equal(source.size, SIZE);
    }),
    contractCase('the identity of untouched content stays the same', make, async (source) => {
      const first = await source.identity?.();
      if (first === undefined) return;
      await source.read(0, new Uint8Array(64 * KIB));
      assert.deepEqual(await source.identity?.(), first);
      assert.equal(first.size, SIZE);
      assert.ok(first.changedAtMs <= Date.now() + 2000, 'it was changed in the future');
    }),
    contractCase('it may be closed twice, also at the same time', make, async (source) => {
      await Promise.all([source.close(), source.close()]);
      await source.close();
    }),
    contractCase('a read that runs when it is closed still ends well', make, async (source, content) => {
      const into = new Uint8Array(256 * KIB);
      const running = source.read(4096, into);
      await source.close();
      assert.equal(await running, into.length);
      assertSame(into, content.subarray(4096, 4096 + into.length));
    }),
  ];
}

function lending(make: MakeSource): ContractCase[] {
  return [
    contractCase('lent bytes arrive through a socket as they are', make, async (source, content) => {
      for (const [offset, length] of [
        [0, 256 * KIB],
        [768 * KIB, 256 * KIB],
        [12 * KIB * 300, 12 * KIB],
        [8 * KIB * KIB, SIZE - 8 * KIB * KIB],
      ] as const) {
        const loan = await source.lend?.(offset, length);
        if (loan === undefined) continue;
        assert.equal(loan.bytes.length, length);
        assertSame(await deliver([loan]), content.subarray(offset, offset + length));
      }
    }),
    contractCase('many may borrow the same bytes at once', make, async (source, content) => {
      const loans = await Promise.all(Array.from({ length: 8 }, async () => source.lend?.(0, 64 * KIB)));
      const lent = loans.filter((loan) => loan !== undefined);
      const expected = Buffer.concat(lent.map(() => content.subarray(0, 64 * KIB)));
      assertSame(await deliver(lent), expected);
    }),
    contractCase('nothing is lent beyond the end', make, async (source) => {
      assert.equal(await source.lend?.(SIZE - 10, 11), undefined);
      assert.equal(await source.lend?.(SIZE, 1), undefined);
    }),
    contractCase(
      'what is lent stays good after closing has begun, until it is back',
      make,
      async (source, content) => {
        const loan = await source.lend?.(256 * KIB, 256 * KIB);
        const closing = source.close();
        if (loan !== undefined) {
          assertSame(await deliver([loan]), content.subarray(256 * KIB, 512 * KIB));
        }
        await closing;
      },
    ),
  ];
}

function contractCase(
  title: string,
  make: MakeSource,
  body: (source: ChunkSource, content: Uint8Array) => Promise<void>,
): ContractCase {
  return {
    title,
    run() {
      const content = incompressible();
      return withSource(make, content, (source) => body(source, content));
    },
  };
}

async function withSource(
  make: MakeSource,
  content: Uint8Array,
  body: (source: ChunkSource) => Promise<void>,
): Promise<void> {
  const { source, dispose } = await make(content);
  try {
    await body(source);
  } finally {
    await source.close();
    await dispose?.();
  }
}

async function readSpan(source: ChunkSource, offset: number, length: number): Promise<Uint8Array> {
  const into = new Uint8Array(length);
  return into.subarray(0, await source.read(offset, into));
}

/** Sends the loans and gives them back, also when sending fails. */
async function deliver(loans: readonly Loan[]): Promise<Uint8Array> {
  try {
    return await deliverThroughSocket(loans.map(({ bytes }) => bytes));
  } finally {
    for (const loan of loans) loan.release();
  }
}

/** Like deepEqual, without printing megabytes when it fails. */
function assertSame(actual: Uint8Array, expected: Uint8Array): void {
  assert.equal(actual.length, expected.length);
  assert.ok(Buffer.compare(actual, expected) === 0, 'the bytes differ');
}

/** The same bytes each time, no part like another. */
function incompressible(): Uint8Array {
  return createCipheriv('aes-128-ctr', Buffer.alloc(16), Buffer.alloc(16)).update(Buffer.alloc(SIZE));
}
