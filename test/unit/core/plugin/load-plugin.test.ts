import { execFileSync } from 'node:child_process';
import { cpSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { loadPlugin } from '#dist/core/plugin/load-plugin.js';
import { resolvePlugin } from '#dist/core/plugin/resolve-plugin.js';
import { makeTempFolder } from '../../../support/temp-folder.js';

const GOOD = `
  const codec = { name: 'rot13', encode: (chunk) => chunk, decode: (payload) => payload };
  const source = { name: 'http', accepts: () => true, open: async () => ({}) };
  export default { name: 'good', apiVersion: 1, codecs: [codec], sources: [source] };`;
const distFolder = fileURLToPath(new URL('../../../../dist/', import.meta.url));
let temp: Awaited<ReturnType<typeof makeTempFolder>>;
let folder: string;

beforeAll(async () => {
  temp = await makeTempFolder();
  folder = temp.path;
  for (const part of ['core', 'plugins']) {
    cpSync(join(distFolder, part), join(folder, 'dist', part), { recursive: true });
  }
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
});

afterAll(() => temp.remove());

describe('loadPlugin', () => {
  test('a module is found by its URL, its path, and its path from here', async () => {
    const path = written('good.mjs', GOOD);
    for (const specifier of [pathToFileURL(path).href, path, `./${relative(process.cwd(), path)}`]) {
      const plugin = await loadPlugin(specifier);
      expect(plugin).toMatchObject({
        name: 'good',
        codecs: [{ name: 'rot13' }],
        sources: [{ name: 'http' }],
      });
    }
  });

  test('a path may hold characters that mean something in a URL', async () => {
    expect(await loadPlugin(written('50% #1?.mjs', GOOD))).toMatchObject({ name: 'good' });
  });

  test('the built-in plugins load like any other', async () => {
    for (const name of ['none', 'lz4', 'deflate']) {
      const plugin = await loadPlugin(join(distFolder, 'plugins', 'codecs', `${name}.js`));
      expect(plugin.codecs.map((codec) => codec.name)).toEqual([name]);
    }
  });

  const codec = '{ name: "x", encode() {}, decode() {} }';
  test.each([
    ['throws at import', 'throw new Error("boom\\nstack")', /cannot be loaded: boom$/],
    ['imports what is not there', 'import "./gone.mjs"', /cannot be loaded: .*gone\.mjs/],
    ['is no JavaScript', 'export default {', /cannot be loaded: /],
    ['exports nothing', '', /has no plugin as its default export$/],
    ['exports a function', 'export default () => {}', /has no plugin as its default export$/],
    ['says no version', 'export default { name: "x" }', /does not say which plugin API it is written for$/],
    ['is from the future', exported('apiVersion: 2'), /is written for plugin API 2; this WireBound has 1$/],
    ['has no name', exported('name: undefined'), /has no name$/],
    ['has no list', exported('codecs: undefined'), /has no list of codecs$/],
    ['has a nameless codec', exported(`codecs: [${codec}, {}]`), /has no name at codecs\[1\]$/],
    [
      'has half a codec',
      exported('codecs: [{ name: "x", encode() {} }]'),
      /no function codecs\[0\]\.decode$/,
    ],
    [
      'has half a source',
      exported('sources: [{ name: "x", accepts() {} }]'),
      /no function sources\[0\]\.open$/,
    ],
  ])('a module that %s is refused in one line that names it', async (title, code, message) => {
    const path = written(`${title}.mjs`, code);
    const error = await loadPlugin(path).catch((reason: unknown) => reason);
    expect(error).toMatchObject({
      code: 'PLUGIN_FAILED',
      exitCode: 9,
      message: expect.stringMatching(message),
    });
    expect((error as Error).message).toContain(`plugin ${path} `);
    expect((error as Error).message).not.toContain('\n');
  });

  test('a path that leads nowhere is refused', async () => {
    await expect(loadPlugin(join(folder, 'nowhere.js'))).rejects.toThrow(
      expect.objectContaining({ code: 'PLUGIN_FAILED', message: expect.stringContaining('nowhere.js') }),
    );
  });

  test('without lz4-napi the lz4 plugin is refused and the cause names the package', () => {
    expect(inNode(`loadPlugin('./dist/plugins/codecs/lz4.js')`)).toMatch(
      /^PLUGIN_FAILED plugin \.\/dist\/plugins\/codecs\/lz4\.js cannot be loaded: .*'lz4-napi'/,
    );
  });

  test('a package is found where WireBound finds its own, and a missing one is refused', () => {
    const manifest = { name: 'rot13', type: 'module', exports: { import: './index.js' } };
    cpSync(written('good.mjs', GOOD), join(folder, 'node_modules', 'rot13', 'index.js'));
    writeFileSync(join(folder, 'node_modules', 'rot13', 'package.json'), JSON.stringify(manifest));
    expect(inNode(`loadPlugin('rot13')`)).toBe('good');
    expect(inNode(`loadPlugin('rot14')`)).toMatch(/^PLUGIN_FAILED plugin rot14 cannot be found: .*'rot14'/);
  });
});

describe('resolvePlugin', () => {
  test('a URL stays as it is, a path becomes one', () => {
    expect(resolvePlugin('file:///x.js')).toBe('file:///x.js');
    expect(resolvePlugin('./x.js')).toBe(pathToFileURL('x.js').href);
    expect(resolvePlugin('package.json')).toBe(pathToFileURL('package.json').href);
  });
});

function written(name: string, code: string): string {
  const path = join(folder, name);
  writeFileSync(path, code);
  return path;
}

/** A module whose default export is a valid plugin but for `flaw`. */
function exported(flaw: string): string {
  return `export default { name: 'x', apiVersion: 1, codecs: [], sources: [], ${flaw} }`;
}

/** What plain node says to the copy of the product in `folder`, where no package is installed. */
function inNode(expression: string): string {
  const code = `
    import { loadPlugin } from './dist/core/plugin/load-plugin.js';
    console.log(await ${expression}.then((plugin) => plugin.name, (error) => error.code + ' ' + error.message));`;
  const options = { cwd: folder, encoding: 'utf8' } as const;
  return execFileSync(process.execPath, ['--input-type=module', '-e', code], options).trim();
}
