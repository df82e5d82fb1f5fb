import { expect, test } from '@jest/globals';
import { OptionalPackage } from '#dist/plugins/sources/mapping/optional-package.js';

test('a package that is missing is told in one line, and is only looked for once', () => {
  const missing = new OptionalPackage('wirebound-no-such-package', (exports) => exports);
  expect(missing.failure).toMatch(/^wirebound-no-such-package cannot be loaded \(.*Cannot find module.*\)$/);
  expect(missing.value).toBeUndefined();
  let prepared = 0;
  const broken = new OptionalPackage('node:os', () => {
    prepared += 1;
    throw new Error('has no mmap\nand more');
  });
  expect([broken.failure, broken.failure, broken.value]).toEqual([
    'node:os cannot be loaded (has no mmap)',
    'node:os cannot be loaded (has no mmap)',
    undefined,
  ]);
  expect(prepared).toBe(1);
});

test('a package that is there gives what was picked from it', () => {
  const os = new OptionalPackage('node:os', (exports) => Object.keys(exports as object).length);
  expect(os.failure).toBeUndefined();
  expect(os.value).toBeGreaterThan(0);
});
