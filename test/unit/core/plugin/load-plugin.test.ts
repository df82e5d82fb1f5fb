import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
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
    ['has a name twice', exported(`codecs: [${codec}, ${codec}]`), /has two codecs called x$/],
    ['never ends loading', 'await new Promise(() => {})', /did not finish loading within 0\.2 s$/],
    ['has a hook that throws', 'export default () => { throw new Error("boom") }', /cannot be loaded: boom$/],
    [
      'has a source that opens nothing',
      exported('sources: [{ name: "x", open() {} }]'),
      /neither by scheme nor by accepts/,
    ],
    [
      'has half a source',
      exported('sources: [{ name: "x", accepts() {} }]'),
      /no function sources\[0\]\.open$/,
    ],
  ])('a module that %s is refused in one line that names it', async (title, code, message) => {
    const path = written(`${title}.mjs`, code);
    const error = await loadPlugin(path, { timeoutMs: 200 }).catch((reason: unknown) => reason);
    expect(error).toMatchObject({
      code: 'PLUGIN_FAILED',
      exitCode: 9,
      message: expect.stringMatching(message),
    });
    expect((error as Error).message).toContain(`plugin ${path} `);
    expect((error as Error).message).not.toContain('\n');
  });

  test('a function that returns a plugin is one, as oclif hooks are', async () => {
    const hook = `export default async function () { return { ...(${GOOD.match(/\{ name: 'good'.*\}/s)?.[0]}) }; }
      const codec = { name: 'rot13', encode() {}, decode() {} }; const source = { name: 'http', accepts() {}, open() {} };`;
    expect(await loadPlugin(written('hook.mjs', hook))).toMatchObject({ name: 'good' });
    const commonJs = `exports.__esModule = true; exports.default = () => ({ name: 'old', apiVersion: 1, codecs: [], sources: [] });`;
    expect(await loadPlugin(written('hook.cjs', commonJs))).toMatchObject({ name: 'old' });
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
    expect(resolvePlugin('./x.js', { folder })).toBe(pathToFileURL(join(folder, 'x.js')).href);
  });

  test('a name is never a file of the working folder, which may have come from the network', () => {
    expect(() => resolvePlugin('package.json')).toThrow(
      expect.objectContaining({
        code: 'PLUGIN_FAILED',
        suggestions: ['a file is named by its path: ./package.json'],
      }),
    );
  });

  test.each<[string, object, string]>([
    ['exports, as a path', { exports: './a.js' }, 'a.js'],
    ['exports, by condition', { exports: { '.': { types: './a.d.ts', import: './a.js' } } }, 'a.js'],
    ['exports, by default', { exports: { require: './b.cjs', default: './a.js' }, main: 'b.cjs' }, 'a.js'],
    ['main', { main: './a.js' }, 'a.js'],
    ['main, without its ending', { main: './a' }, 'a.js'],
    ['nothing', {}, 'index.js'],
    ['an oclif hook', { main: 'b.cjs', oclif: { hooks: { 'wirebound:plugin': './a' } } }, 'a.js'],
    ['a hook with a target', { oclif: { hooks: { 'wirebound:plugin': [{ target: './a.js' }] } } }, 'a.js'],
  ])('a folder is entered where its package says, by %s', (title, manifest, entry) => {
    const root = join(folder, title);
    mkdirSync(root);
    for (const name of ['a.js', 'b.cjs', 'index.js']) writeFileSync(join(root, name), '');
    writeFileSync(join(root, 'package.json'), JSON.stringify(manifest));
    expect(resolvePlugin('.', { folder: root })).toBe(pathToFileURL(join(root, entry)).href);
  });

  test.each([
    ['no package.json', undefined, /no package\.json/],
    ['a package.json that is no JSON', '{', /is not JSON/],
    ['an entry that was not built', '{ "exports": "./dist/index.js" }', /has the package been built\?$/],
  ])('a folder with %s is refused, and why is said', (title, manifest, message) => {
    const root = join(folder, title);
    mkdirSync(root);
    if (manifest !== undefined) writeFileSync(join(root, 'package.json'), manifest);
    expect(() => resolvePlugin(root)).toThrow(message);
  });

  test('a package is looked for from the folder that was named, upwards', () => {
    const deep = join(folder, 'deep', 'er');
    mkdirSync(join(folder, 'deep', 'node_modules', '@me', 'codec'), { recursive: true });
    mkdirSync(deep);
    writeFileSync(join(folder, 'deep', 'node_modules', '@me', 'codec', 'package.json'), '{ "main": "x.js" }');
    const module = join(folder, 'deep', 'node_modules', '@me', 'codec', 'x.js');
    writeFileSync(module, '');
    expect(resolvePlugin('@me/codec', { packagesFrom: deep })).toBe(pathToFileURL(module).href);
    expect(() => resolvePlugin('@me/codec')).toThrow("no package '@me/codec' is installed");
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
