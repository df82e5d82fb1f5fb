import { basename, dirname } from 'node:path';
import { expect, test } from '@jest/globals';
import { partialPaths } from '#dist/core/sink/partial-paths.js';

test('the partial lies beside the target under a name that tells what it is', () => {
  expect(partialPaths('/room/build.iso')[0]).toEqual({
    partial: '/room/build.iso.wirebound',
    lock: '/room/build.iso.wirebound.lock',
  });
});

test.each(['a'.repeat(255), `${'é'.repeat(127)}a`, `${'漢'.repeat(84)}abc`, 'a'.repeat(246)])(
  'the names beside a long name fit the file system and stay whole characters (%#)',
  (name) => {
    const limits = [255, 143];
    for (const [index, { partial, lock }] of partialPaths(`/room/${name}`).entries()) {
      for (const path of [partial, lock]) {
        expect(dirname(path)).toBe('/room');
        expect(Buffer.byteLength(basename(path))).toBeLessThanOrEqual(limits[index] ?? 0);
        expect(path).toMatch(/~[0-9a-f]{8}\.wirebound(\.lock)?$/);
        expect(path).not.toContain('\ufffd');
      }
    }
  },
);

test('two long names that differ only at the end do not share a partial', () => {
  const [one] = partialPaths(`/room/${'a'.repeat(254)}1`);
  const [two] = partialPaths(`/room/${'a'.repeat(254)}2`);
  expect(one?.partial).not.toBe(two?.partial);
  expect(one?.lock).not.toBe(two?.lock);
});
