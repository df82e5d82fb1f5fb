import assert from 'node:assert/strict';

/** Like deepEqual, without printing megabytes when it fails. */
export function assertSameBytes(actual: Uint8Array, expected: Uint8Array): void {
  assert.equal(
    actual.length,
    expected.length,
    `there are ${actual.length} bytes instead of ${expected.length}`,
  );
  if (Buffer.compare(actual, expected) === 0) return;
  const at = actual.findIndex((value, index) => value !== expected[index]);
  assert.fail(`the bytes differ from byte ${at} on`);
}
