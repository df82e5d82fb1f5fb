import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { open, rename, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Loan } from '#dist/core/source/chunk-source.js';
import { koffiBinding } from '#dist/plugins/sources/mapping/koffi-binding.js';
import type { MappingBinding } from '#dist/plugins/sources/mapping/mapping-binding.js';
import { mmapIoBinding } from '#dist/plugins/sources/mapping/mmap-io-binding.js';
import { createMmapProvider } from '#dist/plugins/sources/mmap-provider.js';
import { deliverThroughSocket } from '#dist/testing/deliver-through-socket.js';
import { content } from '../../../support/content.js';
import { writeSparseFile } from '../../../support/random-file.js';
import { makeTempFolder } from '../../../support/temp-folder.js';

const GIB = 2 ** 30;
const options = { memoryLimit: 0 };

let folder: Awaited<ReturnType<typeof makeTempFolder>>;
let path: string;
beforeAll(async () => {
  folder = await makeTempFolder();
  path = join(folder.path, 'content.bin');
  await writeFile(path, content('random', 100_000));
});
afterAll(() => folder.remove());

/** A binding that counts, and does something else where it is told to. */
function counting(
  changes: Partial<MappingBinding> = {},
): MappingBinding & { mapped: number; unmapped: number } {
  const map = changes.map ?? koffiBinding.map;
  const binding = {
    ...koffiBinding,
    ...changes,
    mapped: 0,
    unmapped: 0,
    map(descriptor: number, offset: number, length: number) {
      const mapping = map(descriptor, offset, length);
      binding.mapped += 1;
      return {
        bytes: mapping.bytes,
        unmap() {
          binding.unmapped += 1;
          mapping.unmap();
        },
      };
    },
  };
  return binding;
}

describe('choosing a binding', () => {
  test('a binding that shows other bytes is refused, and the next one takes over', async () => {
    const other = join(folder.path, 'other.bin');
    await writeFile(other, content('random', 100_000, 2));
    const descriptor = openSync(other, 'r');
    const liar = counting({
      name: 'liar',
      map: (_file, offset, length) => koffiBinding.map(descriptor, offset, length),
    });
    const source = await createMmapProvider({ bindings: [liar, koffiBinding] }).open(path, options);
    expect(source.description).toBe('mmap through koffi');
    await source.close();
    await expect(createMmapProvider({ bindings: [liar] }).open(path, options)).rejects.toMatchObject({
      code: 'SOURCE_UNAVAILABLE',
      message: `${JSON.stringify(path)} cannot be mapped: liar: maps wrong bytes`,
    });
    expect([liar.mapped, liar.unmapped]).toEqual([2, 2]);
    closeSync(descriptor);
  });

  test('mmap-io never sees a file of 2 GiB or more', async () => {
    const big = join(folder.path, 'big.bin');
    await writeSparseFile(big, 2 * GIB);
    const mmapIo = counting({ ...mmapIoBinding, unavailable: () => undefined });
    await expect(createMmapProvider({ bindings: [mmapIo] }).open(big, options)).rejects.toMatchObject({
      code: 'SOURCE_UNAVAILABLE',
    });
    const source = await createMmapProvider({ bindings: [mmapIo, koffiBinding] }).open(big, options);
    expect(source.description).toBe('mmap through koffi');
    expect(mmapIo.mapped).toBe(0);
    await source.close();
  });

  test('a missing package is told before anything is opened, a file that is missing too is told first', async () => {
    const missing = { ...koffiBinding, unavailable: () => 'koffi cannot be loaded' };
    const provider = createMmapProvider({ bindings: [{ ...missing, name: 'mmap-io' }, missing] });
    expect(provider.unavailable?.()).toBe('neither mmap-io nor koffi can be loaded on this machine');
    await expect(provider.open(path, options)).rejects.toMatchObject({ code: 'SOURCE_UNAVAILABLE' });
    await expect(provider.open(`${path}.not`, options)).rejects.toMatchObject({ code: 'SOURCE_NOT_FOUND' });
    expect(createMmapProvider({ bindings: [missing, koffiBinding] }).unavailable?.()).toBeUndefined();
  });
});

describe('lending', () => {
  test('closing waits for the last loan and unmaps once, then lends nothing', async () => {
    const binding = counting();
    const source = await createMmapProvider({ bindings: [binding] }).open(path, options);
    const loans = [await source.lend?.(0, 100), await source.lend?.(50, 100)] as [Loan, Loan];
    let closed = false;
    const closing = source.close().then(() => {
      closed = true;
    });
    loans[0].release();
    loans[0].release();
    await source.identity?.();
    expect([closed, binding.unmapped]).toEqual([false, 0]);
    expect(await source.lend?.(0, 100)).toBeUndefined();
    expect(await deliverThroughSocket([loans[1].bytes])).toEqual(content('random', 150).subarray(50));
    loans[1].release();
    await closing;
    await source.close();
    expect([closed, binding.mapped, binding.unmapped]).toEqual([true, 1, 1]);
  });

  test('a file that is replaced by another goes on as it was', async () => {
    const replaced = join(folder.path, 'replaced.bin');
    await writeFile(replaced, content('random', 100_000, 3));
    const source = await createMmapProvider({ bindings: [koffiBinding] }).open(replaced, options);
    await writeFile(`${replaced}.new`, 'new');
    await rename(`${replaced}.new`, replaced);
    const loan = (await source.lend?.(0, 100_000)) as Loan;
    expect(Buffer.compare(await deliverThroughSocket([loan.bytes]), content('random', 100_000, 3))).toBe(0);
    loan.release();
    await source.close();
  });

  test('windows beyond 4 GiB show the right bytes, also across the ends of windows', async () => {
    const size = 5 * GIB + 11;
    const huge = join(folder.path, 'huge.bin');
    await writeSparseFile(huge, size);
    const source = await createMmapProvider({ bindings: [koffiBinding] }).open(huge, options);
    const file = await open(huge);
    for (let at = 0; at <= size; at += GIB) {
      const offset = Math.max(0, at - 4096);
      const length = Math.min(12_288, size - offset);
      const loan = (await source.lend?.(offset, length)) as Loan;
      const expected = Buffer.alloc(length);
      await file.read(expected, 0, length, offset);
      expect(expected.equals(Buffer.alloc(length))).toBe(false);
      expect(Buffer.compare(await deliverThroughSocket([loan.bytes]), expected)).toBe(0);
      loan.release();
    }
    await file.close();
    await source.close();
  });
});

describe.each(['koffi', 'mmap-io'])('a file that is cut while it is mapped through %s', (name) => {
  const binding = name === 'koffi' ? koffiBinding : mmapIoBinding;
  (binding.unavailable() === undefined ? test : test.skip)('costs a socket, never the process', async () => {
    const cut = join(folder.path, 'cut.bin');
    await writeFile(cut, '');
    await truncate(cut, 48 * 2 ** 20);
    const dist = new URL('../../../../dist/', import.meta.url).href;
    const child = spawn(
      process.execPath,
      ['--input-type=module', '-e', CUT_WHILE_LENT, dist, `${name}-binding`, cut],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    );
    const [output, [status, signal]] = await Promise.all([text(child.stdout), once(child, 'close')]);
    expect({ status, signal, output }).toEqual({
      status: 0,
      signal: null,
      output: 'write EFAULT, lend undefined, read 0\n',
    });
  });
});

const CUT_WHILE_LENT = `
const [dist, bindingModule, path] = process.argv.slice(1);
const { truncateSync } = await import('node:fs');
const { deliverThroughSocket } = await import(dist + 'testing/deliver-through-socket.js');
const { createMmapProvider } = await import(dist + 'plugins/sources/mmap-provider.js');
const bindings = Object.values(await import(dist + 'plugins/sources/mapping/' + bindingModule + '.js'));
const source = await createMmapProvider({ bindings }).open(path, { memoryLimit: 0 });
const loan = await source.lend(2 ** 20, 2 ** 20);
truncateSync(path, 4096);
const write = await deliverThroughSocket([loan.bytes]).then(() => 'ok', (error) => error.code);
loan.release();
const lend = await source.lend(40 * 2 ** 20, 2 ** 20);
const read = await source.read(40 * 2 ** 20, new Uint8Array(2 ** 20));
await source.close();
console.log('write ' + write + ', lend ' + lend + ', read ' + read);
`;
