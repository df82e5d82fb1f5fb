import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';

interface Lock {
  readonly packages: Readonly<
    Record<
      string,
      { readonly hasInstallScript?: boolean; readonly integrity?: string; readonly link?: boolean }
    >
  >;
}

function readJson<T>(name: string): T {
  return JSON.parse(readFileSync(new URL(`../../../${name}`, import.meta.url), 'utf8')) as T;
}

const { allowScripts } = readJson<{ allowScripts: Readonly<Record<string, boolean>> }>('package.json');
/** Everything that comes from a registry: not this package, not the ones under packages/, not links to them. */
const installed = Object.entries(readJson<Lock>('package-lock.json').packages).filter(
  ([path, { link }]) => path.includes('node_modules/') && link !== true,
);

describe('the lock file', () => {
  test('names no registry, so that everyone installs from their own', () => {
    expect(installed.filter(([, entry]) => 'resolved' in entry)).toEqual([]);
  });

  test('holds every package to a digest', () => {
    expect(installed.length).toBeGreaterThan(100);
    expect(installed.filter(([, { integrity }]) => !integrity?.startsWith('sha512-'))).toEqual([]);
  });
});

describe('install scripts', () => {
  test('are decided on for every package that has one, and only mmap-io runs its own', () => {
    const scripted = installed.flatMap(([path, entry]) =>
      entry.hasInstallScript ? [path.split('node_modules/').at(-1) ?? path] : [],
    );
    expect(scripted).toContain('mmap-io');
    expect(scripted.filter((name) => !(name in allowScripts))).toEqual([]);
    expect(Object.keys(allowScripts).filter((name) => allowScripts[name])).toEqual(['mmap-io']);
  });
});
