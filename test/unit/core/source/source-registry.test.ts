import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { describe, expect, test } from '@jest/globals';
import { WireBoundError } from '#dist/core/errors.js';
import type { ChunkSource, SourceProvider } from '#dist/core/source/chunk-source.js';
import { SourceRegistry } from '#dist/core/source/source-registry.js';
import file from '#dist/plugins/sources/file.js';
import { koffiBinding } from '#dist/plugins/sources/mapping/koffi-binding.js';
import { createMemoryProvider } from '#dist/plugins/sources/memory-provider.js';
import { createMmapProvider } from '#dist/plugins/sources/mmap-provider.js';
import { withTempFolder } from '../../../support/temp-folder.js';

const options = { memoryLimit: 1000 };

const source: ChunkSource = { name: 'x', size: 0, read: async () => 0, close: async () => {} };

function provider(name: string, changes: Partial<SourceProvider> = {}): SourceProvider {
  return { name, accepts: () => true, open: async () => source, ...changes };
}

function registryOf(...providers: readonly SourceProvider[]): SourceRegistry {
  const registry = new SourceRegistry();
  for (const each of providers) registry.register(each, 'test');
  return registry;
}

function failing(name: string, error: unknown): SourceProvider {
  return provider(name, { open: () => Promise.reject(error) });
}

describe('the built-in sources', () => {
  const builtIn = (missing: boolean) => {
    const binding = missing ? { ...koffiBinding, unavailable: () => 'gone' } : koffiBinding;
    return registryOf(
      createMmapProvider({ bindings: [{ ...binding, name: 'mmap-io' }, binding] }),
      ...(file.sources as readonly SourceProvider[]),
      createMemoryProvider({ stdin: () => Readable.from([Buffer.from('abc')]) }),
    );
  };

  test('auto maps a regular file, reads what cannot be mapped, and keeps standard input in memory', () =>
    withTempFolder(async (folder) => {
      await writeFile(join(folder, 'full'), 'abc');
      await writeFile(join(folder, 'empty'), '');
      const open = async (registry: SourceRegistry, reference: string) => {
        const { source, reason } = await registry.open(reference, 'auto', options);
        await source.close();
        return reason;
      };
      expect(await open(builtIn(false), join(folder, 'full'))).toBe('mmap: a regular file');
      expect(await open(builtIn(true), join(folder, 'full'))).toBe(
        'file, because neither mmap-io nor koffi can be loaded on this machine',
      );
      expect(await open(builtIn(false), join(folder, 'empty'))).toMatch(/^file, because .* an empty file/);
      expect(await open(builtIn(false), '-')).toBe('memory: standard input');
    }));

  test('mmap of an empty file works when it is asked for', () =>
    withTempFolder(async (folder) => {
      await writeFile(join(folder, 'empty'), '');
      const opened = await builtIn(false).open(join(folder, 'empty'), 'mmap', options);
      expect(opened).toMatchObject({ provider: 'mmap', reason: 'mmap: asked for' });
      await opened.source.close();
    }));

  test('an address that nobody opens, and a choice that does not fit, are USAGE', async () => {
    for (const [reference, choice] of [
      ['ftp://host/file', 'auto'],
      ['-', 'file'],
    ] as const) {
      await expect(builtIn(false).open(reference, choice, options)).rejects.toMatchObject({ code: 'USAGE' });
    }
  });
});

describe('choosing', () => {
  test('auto passes by what does not work here or breaks, and says why', async () => {
    const registry = registryOf(
      provider('shy', { accepts: () => false }),
      provider('absent', { unavailable: () => 'no such library' }),
      failing('unable', new WireBoundError('SOURCE_UNAVAILABLE', 'cannot map that')),
      failing('broken', new TypeError('x is undefined\n    at somewhere')),
      provider('empty-handed', { open: async () => ({}) as ChunkSource }),
      provider('good'),
    );
    const opened = await registry.open('ref', 'auto', options);
    expect(opened.provider).toBe('good');
    expect(opened.reason).toBe(
      'good, because no such library; cannot map that; source broken failed on "ref": x is undefined; ' +
        'source empty-handed opened "ref" without a size or a way to read it',
    );
  });

  test.each([
    'SOURCE_NOT_FOUND',
    'SOURCE_UNREADABLE',
    'SOURCE_NOT_REGULAR',
    'SOURCE_TOO_LARGE',
    'SOURCE_CHANGED',
    'USAGE',
    'INTERRUPTED',
  ] as const)('%s is about the reference and ends it at once', async (code) => {
    const error = new WireBoundError(code, 'no');
    await expect(registryOf(failing('a', error), provider('b')).open('r', 'auto', options)).rejects.toBe(
      error,
    );
  });

  test('when every provider fails, the last failure is told', async () => {
    const last = new WireBoundError('SOURCE_UNAVAILABLE', 'last');
    const registry = registryOf(provider('a', { unavailable: () => 'first' }), failing('b', last));
    await expect(registry.open('r', 'auto', options)).rejects.toBe(last);
  });

  test('only a provider that nobody asked for is told that it may decline', async () => {
    const seen: unknown[] = [];
    const registry = registryOf(
      provider('a', {
        open: async (_reference, given) => {
          seen.push(given);
          return source;
        },
      }),
    );
    await registry.open('r', 'auto', options);
    await registry.open('r', 'a', options);
    expect(seen).toEqual([
      { ...options, automatic: true },
      { ...options, automatic: false },
    ]);
  });

  test('a provider that was asked for and does not work here is not replaced', async () => {
    const registry = registryOf(provider('a', { unavailable: () => 'no such library' }), provider('b'));
    await expect(registry.open('r', 'a', options)).rejects.toMatchObject({
      code: 'SOURCE_UNAVAILABLE',
      message: 'no such library',
    });
  });

  test('an unknown choice is USAGE and lists what there is', async () => {
    await expect(registryOf(provider('a'), provider('b')).open('r', 'zip', options)).rejects.toMatchObject({
      code: 'USAGE',
      message: 'unknown source "zip"; there are: auto, a, b',
    });
  });
});

describe('registering', () => {
  test.each(['a', 'auto', 'Upper', '', '__proto__'])('the name %j is taken or malformed', (name) => {
    const registry = registryOf(provider('a'));
    expect(() => registry.register(provider(name), 'elsewhere')).toThrow(
      expect.objectContaining({ code: 'PLUGIN_FAILED', message: expect.stringContaining('elsewhere') }),
    );
  });

  test('the list says where each comes from and why it does not work', () => {
    const registry = registryOf(provider('a'), provider('b', { unavailable: () => 'no library' }));
    expect(registry.list()).toEqual([
      { name: 'a', origin: 'test' },
      { name: 'b', origin: 'test', unavailable: 'no library' },
    ]);
  });
});
