import assert from 'node:assert/strict';
import { assertSameBytes } from './assert-same-bytes.js';
import type { ContractCase } from './contract-case.js';
import { readSpan, sourceCase } from './source-case.js';
import type { SourceFixture } from './source-under-test.js';

const KIB = 1024;

/** What a source says of itself, and how it ends. */
export function sourceStanding(fixture: SourceFixture): ContractCase[] {
  const size = fixture.content.length;
  return [
    sourceCase('name and size are told at once and do not change', fixture, async (source) => {
      const { name } = source;
      assert.equal(typeof name, 'string', `its name is a ${typeof name}`);
      assert.match(name, /^[^/\0]+$/);
      assert.equal(source.size, size);
      await source.read(0, new Uint8Array(64 * KIB));
      assert.equal(source.name, name);
      assert.equal(source.size, size);
    }),
    sourceCase('the identity of untouched content stays the same', fixture, async (source) => {
      const first = await source.identity?.();
      if (first === undefined) return;
      await source.read(0, new Uint8Array(64 * KIB));
      assert.deepEqual(await source.identity?.(), first);
      assert.equal(first.size, size);
      assert.ok(first.changedAtMs <= Date.now() + 2000, 'it was changed in the future');
    }),
    sourceCase('it may be closed twice, also at the same time', fixture, async (source) => {
      await Promise.all([source.close(), source.close()]);
      await source.close();
    }),
    sourceCase(
      'a read that runs when it is closed ends, well or with an error',
      fixture,
      async (source, content) => {
        const offset = Math.min(4096, size >> 1);
        const running = readSpan(source, offset, 256 * KIB).catch(() => undefined);
        await source.close();
        const read = await running;
        if (read !== undefined) assertSameBytes(read, content.subarray(offset, offset + 256 * KIB));
      },
    ),
    {
      title: 'an opening that was cancelled ends',
      async run() {
        const opening = fixture.open(AbortSignal.abort(new Error('cancelled')));
        const subject = await opening.catch(() => undefined);
        await subject?.source.close();
        await subject?.dispose?.();
      },
    },
  ];
}
