import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Loan } from '#dist/core/source/chunk-source.js';
import { koffiBinding } from '#dist/plugins/sources/mapping/koffi-binding.js';
import { libc } from '#dist/plugins/sources/mapping/libc.js';
import { makeResident } from '#dist/plugins/sources/mapping/make-resident.js';
import {
  MappedWindows,
  WINDOW_OVERLAP,
  WINDOW_STRIDE,
} from '#dist/plugins/sources/mapping/mapped-windows.js';
import type { MappingBinding } from '#dist/plugins/sources/mapping/mapping-binding.js';
import { mmapIoBinding } from '#dist/plugins/sources/mapping/mmap-io-binding.js';
import { openRegularFile } from '#dist/plugins/sources/open-regular-file.js';
import type { RegularFile } from '#dist/plugins/sources/regular-file.js';
import { writeSparseFile } from '../../../../support/random-file.js';
import { makeTempFolder } from '../../../../support/temp-folder.js';

let folder: Awaited<ReturnType<typeof makeTempFolder>>;
let file: RegularFile;
beforeAll(async () => {
  folder = await makeTempFolder();
  const path = join(folder.path, 'three-windows.bin');
  await writeSparseFile(path, 2 * WINDOW_STRIDE + 4096);
  file = await openRegularFile(path, {});
});
afterAll(async () => {
  await file.close();
  await folder.remove();
});

/** Real mappings, but memory for only so many at once. */
function withRoomFor(limit: number): MappingBinding & { mapped: number } {
  const binding = {
    ...koffiBinding,
    mapped: 0,
    map(descriptor: number, offset: number, length: number) {
      if (binding.mapped >= limit) throw Object.assign(new Error('mmap failed, ENOMEM'), { code: 'ENOMEM' });
      const mapping = koffiBinding.map(descriptor, offset, length);
      binding.mapped += 1;
      return {
        bytes: mapping.bytes,
        unmap() {
          binding.mapped -= 1;
          mapping.unmap();
        },
      };
    },
  };
  return binding;
}

test('without memory for another window the one unused longest makes room, but none that is lent', async () => {
  const binding = withRoomFor(2);
  const windows = new MappedWindows(file, [binding]);
  const borrow = async (index: number) => windows.lend(index * WINDOW_STRIDE, 4096);
  (await borrow(1))?.release();
  const first = (await borrow(0)) as Loan;
  const third = (await borrow(2)) as Loan;
  expect(windows.lendNow(WINDOW_STRIDE, 1)).toBeUndefined();
  expect(await borrow(1)).toBeUndefined();
  third.release();
  const second = (await borrow(1)) as Loan;
  expect(windows.lendNow(2 * WINDOW_STRIDE, 1)).toBeUndefined();
  second.release();
  first.release();
  expect(binding.mapped).toBe(2);
  await windows.close();
  expect(binding.mapped).toBe(0);
});

test('every chunk of up to 16 MiB lies whole in one window', async () => {
  const windows = new MappedWindows(file, [koffiBinding]);
  const loan = await windows.lend(WINDOW_STRIDE - 4096, WINDOW_OVERLAP);
  expect(loan?.bytes.length).toBe(WINDOW_OVERLAP);
  loan?.release();
  expect(await windows.lend(WINDOW_STRIDE - 4096, WINDOW_OVERLAP + 8192)).toBeUndefined();
  await windows.close();
});

test('a binding that begins to lie at a later window is replaced there', async () => {
  const liar: MappingBinding = {
    ...koffiBinding,
    name: 'liar',
    map: (descriptor, _offset, length) => koffiBinding.map(descriptor, 0, length),
  };
  const windows = new MappedWindows(file, [liar, koffiBinding]);
  for (const offset of [0, WINDOW_STRIDE]) (await windows.lend(offset, 4096))?.release();
  expect(windows.bindingName).toBe('koffi');
  expect(windows.refusals).toEqual(['liar: maps wrong bytes']);
  await windows.close();
});

test('a window that several wait for is mapped once', async () => {
  const binding = withRoomFor(1);
  const windows = new MappedWindows(file, [binding]);
  const loans = await Promise.all([windows.lend(0, 1), windows.lend(8192, 1), windows.lend(4096, 1)]);
  expect(loans.every((loan) => loan !== undefined)).toBe(true);
  for (const loan of loans) loan?.release();
  await windows.close();
});

test.each([
  ['madvise', libc.value],
  ['reading', undefined],
] as const)('pages are made resident by %s, and lost ones are told', async (_way, library) => {
  const path = join(folder.path, 'cut.bin');
  await writeSparseFile(path, 3 * 2 ** 20);
  const cut = await openRegularFile(path, {});
  const windows = new MappedWindows(cut, [koffiBinding]);
  const loan = (await windows.lend(2 ** 20, 2 ** 20)) as Loan;
  expect(await makeResident(loan, 2 ** 20, cut, library)).toBe(true);
  await writeSparseFile(path, 2 ** 20 + 4096);
  expect(await makeResident(loan, 2 ** 20, cut, library)).toBe(false);
  loan.release();
  await windows.close();
  await cut.close();
});

for (const binding of [koffiBinding, mmapIoBinding]) {
  const missing = binding.unavailable();
  const title = `a mapping that fails has the code of the system: ${binding.name}`;
  // `npm ci` without a compiler leaves mmap-io out; CI builds it, and test/contract/sources.test.ts insists there.
  (missing === undefined ? test : test.skip)(missing === undefined ? title : `${title} (${missing})`, () => {
    expect(() => binding.map(-1, 0, 4096)).toThrow(expect.objectContaining({ code: 'EBADF' }));
  });
}
