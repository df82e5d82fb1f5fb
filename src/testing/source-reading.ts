import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { assertSameBytes } from './assert-same-bytes.js';
import type { ContractCase } from './contract-case.js';
import { readSpan, sourceCase, withSource } from './source-case.js';
import type { SourceFixture } from './source-under-test.js';

const KIB = 1024;
const MARK = 0xaa;
/** Long enough for a write that was forgotten to happen, milliseconds. */
const AFTERMATH_MS = 25;

/** Every byte, where it belongs, and nothing else. */
export function sourceReading(fixture: SourceFixture): ContractCase[] {
  const size = fixture.content.length;
  const at = (share: number) => Math.floor(size * share);
  const cases = [
    sourceCase('every byte can be read, at odd offsets and lengths', fixture, async (source, content) => {
      const length = 317 * KIB + 13;
      for (let offset = 0; offset < size; offset += length) {
        assertSameBytes(await readSpan(source, offset, length), content.subarray(offset, offset + length));
      }
    }),
    sourceCase('a read is short only at the end, and 0 beyond it', fixture, async (source) => {
      const tail = Math.min(7, size);
      assert.equal(await source.read(size - tail, new Uint8Array(tail + 1)), tail);
      assert.equal(await source.read(size - tail, new Uint8Array(tail)), tail);
      assert.equal(await source.read(size, new Uint8Array(8)), 0);
      assert.equal(await source.read(size + 1_000_000, new Uint8Array(8)), 0);
      assert.equal(
        (await readSpan(source, 0, Math.min(size, 1024 * KIB))).length,
        Math.min(size, 1024 * KIB),
      );
    }),
    sourceCase('a read leaves alone what lies beyond the bytes it counts', fixture, async (source) => {
      const tail = Math.min(3, size);
      const into = new Uint8Array(tail + 5).fill(MARK);
      await source.read(size - tail, into);
      assert.deepEqual([...into.subarray(tail)], [MARK, MARK, MARK, MARK, MARK]);
    }),
    sourceCase('a read stays within the memory it was given', fixture, async (source) => {
      const memory = new Uint8Array(64 * KIB).fill(MARK);
      const length = Math.min(size, 32 * KIB);
      await source.read(0, memory.subarray(16 * KIB, 16 * KIB + length));
      assert.ok(
        memory.subarray(0, 16 * KIB).every((value) => value === MARK),
        'it wrote in front of it',
      );
      assert.ok(
        memory.subarray(16 * KIB + length).every((value) => value === MARK),
        'it wrote behind it',
      );
    }),
    sourceCase('a read lets go of its memory once it has ended', fixture, async (source) => {
      const into = new Uint8Array(Math.min(size, 64 * KIB));
      await source.read(0, into);
      into.fill(MARK);
      await source.read(0, new Uint8Array(1));
      await delay(AFTERMATH_MS);
      assert.ok(
        into.every((value) => value === MARK),
        'it wrote again later',
      );
    }),
    sourceCase('reads may go to shared memory', fixture, async (source, content) => {
      const into = new Uint8Array(new SharedArrayBuffer(Math.min(64 * KIB, size - at(0.3))));
      assert.equal(await source.read(at(0.3), into), into.length);
      assertSameBytes(into, content.subarray(at(0.3), at(0.3) + into.length));
    }),
    sourceCase('reads may overlap in time and in place', fixture, async (source, content) => {
      const offsets = Array.from({ length: 24 }, (_, index) => at(((index * 7) % 24) / 25));
      const spans = await Promise.all(offsets.map((offset) => readSpan(source, offset, 256 * KIB)));
      for (const [index, offset] of offsets.entries()) {
        assertSameBytes(spans[index] as Uint8Array, content.subarray(offset, offset + 256 * KIB));
      }
    }),
    sourceCase('what cannot be read any more is an error', fixture, async (source, content, subject) => {
      if (subject.breakContent === undefined) return;
      await subject.breakContent();
      await assert.rejects(async () => {
        const length = 64 * KIB;
        for (let offset = 0; offset < size; offset += length) {
          const expected = content.subarray(offset, offset + length);
          // The host takes an early end for a change, so that is as good as an error.
          if ((await readSpan(source, offset, length)).length < expected.length)
            throw new Error('it ended early');
        }
      }, 'every read succeeded');
    }),
  ];
  const { openEmpty } = fixture;
  if (openEmpty === undefined) return cases;
  const empty: ContractCase = {
    title: 'empty content is a source of size 0',
    run: async () =>
      withSource(await openEmpty(), async (source) => {
        assert.equal(source.size, 0);
        assert.equal(await source.read(0, new Uint8Array(8)), 0);
      }),
  };
  return [...cases, empty];
}
