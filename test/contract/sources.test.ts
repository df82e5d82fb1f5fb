import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { SourceProvider } from '#dist/core/source/chunk-source.js';
import file from '#dist/plugins/sources/file.js';
import { koffiBinding } from '#dist/plugins/sources/mapping/koffi-binding.js';
import { mmapIoBinding } from '#dist/plugins/sources/mapping/mmap-io-binding.js';
import { createMemoryProvider } from '#dist/plugins/sources/memory-provider.js';
import { createMmapProvider } from '#dist/plugins/sources/mmap-provider.js';
import { sourceContract } from '#dist/testing/source-contract.js';
import type { MakeSource } from '#dist/testing/source-under-test.js';
import { makeTempFolder } from '../support/temp-folder.js';

const options = { memoryLimit: 64 * 2 ** 20 };
const mmapIoNeeded = process.env.WIREBOUND_REQUIRE_MMAP_IO === '1';

let folder: Awaited<ReturnType<typeof makeTempFolder>>;
beforeAll(async () => {
  folder = await makeTempFolder();
});
afterAll(() => folder.remove());

function fromFile(provider: SourceProvider | undefined): MakeSource {
  return async (content) => {
    const path = join(folder.path, 'content.bin');
    await writeFile(path, content);
    if (provider === undefined) throw new Error('the plugin holds no provider');
    return { source: await provider.open(path, options) };
  };
}

const fromStandardInput: MakeSource = async (content) => {
  const pieces = function* () {
    for (let at = 0; at < content.length; at += 65_521) yield content.subarray(at, at + 65_521);
  };
  const provider = createMemoryProvider({ stdin: () => Readable.from(pieces()) });
  return { source: await provider.open('-', options) };
};

const makers: readonly (readonly [string, MakeSource])[] = [
  ['file', fromFile(file.sources[0] as SourceProvider | undefined)],
  ['mmap through koffi', fromFile(createMmapProvider({ bindings: [koffiBinding] }))],
  ['mmap through mmap-io', fromFile(createMmapProvider({ bindings: [mmapIoBinding] }))],
  ['memory, of a file', fromFile(createMemoryProvider())],
  ['memory, of standard input', fromStandardInput],
];

for (const [title, make] of makers) {
  const missing = title.endsWith('mmap-io') && mmapIoBinding.unavailable() !== undefined && !mmapIoNeeded;
  (missing ? describe.skip : describe)(`the source ${title}`, () => {
    for (const { title: promise, run } of sourceContract(make)) test(promise, run);

    if (title === 'file') return;
    test('really lends', async () => {
      const { source } = await make(new Uint8Array(100_000));
      const loan = await source.lend?.(0, 65_536);
      loan?.release();
      await source.close();
      expect(loan).toBeDefined();
    });
  });
}
