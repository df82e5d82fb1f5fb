import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { JsonEvent } from '../support/cli-process.js';
import { runCli, startServe } from '../support/run-cli.js';
import { makeTempFolder } from '../support/temp-folder.js';

const RUNLENGTH = fileURLToPath(new URL('../support/plugins/runlength.mjs', import.meta.url));
const BROKEN = 'throw new Error("boom\\nand a stack")';

let temp: Awaited<ReturnType<typeof makeTempFolder>>;
let folder: string;
beforeEach(async () => {
  temp = await makeTempFolder();
  folder = temp.path;
});
afterEach(() => temp.remove());

const written = (name: string, text: string): string => {
  writeFileSync(join(folder, name), text);
  return join(folder, name);
};

/** The environment of a user whose configuration file holds this. */
function configured(text: string): { readonly env: Record<string, string> } {
  mkdirSync(join(folder, 'config/wirebound'), { recursive: true });
  writeFileSync(join(folder, 'config/wirebound/wirebound.config.json'), text);
  return { env: { XDG_CONFIG_HOME: join(folder, 'config') } };
}

async function listed(args: readonly string[], options = {}): Promise<readonly JsonEvent[]> {
  const { stdout } = await runCli(['plugins', '--json', ...args], options);
  return stdout
    .toString()
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as JsonEvent);
}

describe('wirebound plugins', () => {
  test('lists name, version, what it brings and where it comes from, for people and programs', async () => {
    const { exitCode, stdout } = await runCli(['plugins', '--plugin', RUNLENGTH]);
    expect(exitCode).toBe(0);
    expect(stdout.toString()).toMatch(/^NAME +VERSION +BRINGS +FROM +WORKS HERE\n/);
    expect(stdout.toString()).toMatch(
      /^runlength +0\.1\.0 +codec runlength +\S+runlength\.mjs \(--plugin\) +yes$/m,
    );
    expect(await listed(['--plugin', RUNLENGTH])).toContainEqual({
      event: 'plugin',
      name: 'runlength',
      version: '0.1.0',
      codecs: ['runlength'],
      sources: [],
      origin: RUNLENGTH,
      askedBy: '--plugin',
      available: true,
    });
  });

  test('says what is wrong with those that fail, and fails itself only where they were named on the spot', async () => {
    const broken = written('broken.mjs', BROKEN);
    const taken = written(
      'taken.mjs',
      readFileSync(RUNLENGTH, 'utf8').replace("name: 'runlength',\n", "name: 'lz4',\n"),
    );
    const options = configured(JSON.stringify({ plugins: ['../../taken.mjs', 'not-installed'] }));
    const quiet = await runCli(['plugins'], options);
    expect(quiet).toMatchObject({ exitCode: 0, stderr: '' });
    const events = await listed(['--plugin', broken], options);
    const reasons = events.filter(({ available }) => available === false).map(({ reason }) => reason);
    expect(reasons).toEqual([
      `plugin ${broken} cannot be loaded: boom`,
      'codec lz4 of ../../taken.mjs is already registered by built-in',
      "plugin not-installed cannot be found: no package 'not-installed' is installed",
    ]);
    expect((await runCli(['plugins', '--plugin', broken], options)).exitCode).toBe(9);
    expect((await runCli(['plugins', '--plugin', taken])).stdout.toString()).toMatch(
      /^lz4 +0\.1\.0 +codec lz4 +built-in +yes$/m,
    );
  });

  test('counts a module once, however often it is named', async () => {
    const events = await listed(['--plugin', RUNLENGTH, '--plugin', RUNLENGTH], {
      env: { WIREBOUND_PLUGINS: RUNLENGTH },
    });
    expect(events.filter(({ name }) => name === 'runlength')).toHaveLength(1);
  });

  test('finds the plugin of a package through its oclif hook', async () => {
    mkdirSync(join(folder, 'node_modules/hooked/hooks'), { recursive: true });
    const manifest = {
      name: 'hooked',
      version: '3.2.1',
      oclif: { hooks: { 'wirebound:plugin': './hooks/plugin' } },
    };
    writeFileSync(join(folder, 'node_modules/hooked/package.json'), JSON.stringify(manifest));
    writeFileSync(
      join(folder, 'node_modules/hooked/hooks/plugin.js'),
      `module.exports = async () => ({ name: 'hooked', apiVersion: 1, sources: [], codecs: [{ name: 'upside', encode() {}, decode() {} }] });`,
    );
    const events = await listed(['--plugin', 'hooked'], { cwd: folder });
    expect(events).toContainEqual(
      expect.objectContaining({ name: 'hooked', version: '3.2.1', codecs: ['upside'] }),
    );
  });
});

describe('a plugin that fails', () => {
  test('is named with its cause, and everything else goes on', async () => {
    const options = configured(JSON.stringify({ plugins: [written('broken.mjs', BROKEN)] }));
    const warning = `plugin ${join(folder, 'broken.mjs')} cannot be loaded: boom`;
    for (const command of ['codecs', 'sources']) {
      const { exitCode, stdout, stderr } = await runCli([command], options);
      expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: `warning: ${warning}\n` });
      expect(stdout.toString()).toContain('built-in');
    }
    const { cli, port } = await startServe([written('f', 'abc'), '--until', '1'], options);
    const get = await runCli(['get', `127.0.0.1:${port}`, '--json', '-o', join(folder, 'g')], options);
    expect(get.exitCode).toBe(0);
    expect(get.stdout.toString()).toContain(JSON.stringify({ event: 'warning', message: warning }));
    expect((await cli.finished).exitCode).toBe(0);
    expect(cli.events).toContainEqual({ event: 'warning', message: warning });
  });

  test.each(['codecs', 'sources', 'get', 'serve'])(
    'ends %s when it was asked for by name',
    async (command) => {
      const operand = command === 'serve' || command === 'get' ? ['x'] : [];
      const { exitCode, stdout, stderr } = await runCli([
        command,
        ...operand,
        '--plugin',
        written('broken.mjs', BROKEN),
      ]);
      expect({ exitCode, stdout: stdout.toString() }).toEqual({ exitCode: 9, stdout: '' });
      expect(stderr).toMatch(/^wirebound: plugin \S+ cannot be loaded: boom\n/);
    },
  );
});

describe('what lies in the working folder', () => {
  test('is never loaded unless it is named', async () => {
    const evil = 'process.stdout.write("EVIL"); export default {};';
    mkdirSync(join(folder, 'node_modules/evil'), { recursive: true });
    writeFileSync(join(folder, 'node_modules/evil/package.json'), '{ "name": "evil", "main": "x.mjs" }');
    writeFileSync(join(folder, 'node_modules/evil/x.mjs'), evil);
    written('evil.mjs', evil);
    written('evil', evil);
    written('wirebound.config.json', '{ "plugins": ["./evil.mjs", "evil"] }');
    for (const options of [
      { cwd: folder },
      { cwd: folder, env: { WIREBOUND_PLUGINS: 'evil' } },
      { cwd: folder, env: { XDG_CONFIG_HOME: '.' } },
    ]) {
      const { exitCode, stdout } = await runCli(['plugins'], options);
      expect(exitCode).toBe(0);
      expect(stdout.toString()).not.toContain('EVIL');
    }
    const byFileName = await runCli(['plugins', '--plugin', 'evil.mjs'], { cwd: folder });
    expect(byFileName.exitCode).toBe(9);
    expect(byFileName.stdout.toString()).not.toContain('EVIL');
  });
});

describe('a codec of a plugin', () => {
  test('encodes for clients that have it; others get the same bytes raw', async () => {
    const plugin = join(folder, 'codec');
    mkdirSync(plugin);
    cpSync(RUNLENGTH, join(plugin, 'index.mjs'));
    writeFileSync(join(plugin, 'package.json'), '{ "name": "x", "exports": "./index.mjs" }');
    const bytes = Buffer.concat([Buffer.alloc(3_000_000, 'a'), Buffer.alloc(123, 'b')]);
    const { cli, port } = await startServe(
      [written('f', bytes.toString()), '--plugin', '.', '--codec', 'runlength', '--until', '2'],
      { cwd: plugin },
    );
    const get = async (name: string, ...args: string[]) => {
      const result = await runCli(['get', `127.0.0.1:${port}`, '-o', join(folder, name), ...args]);
      expect(result.exitCode).toBe(0);
      expect(readFileSync(join(folder, name)).equals(bytes)).toBe(true);
    };
    await get('with', '--plugin', plugin);
    await get('without');
    await cli.finished;
    const summary = cli.events.at(-1);
    expect(summary).toMatchObject({
      event: 'summary',
      verified: 2,
      codec: 'runlength',
      chunksEncoded: 12,
      chunksRaw: 12,
    });
  });

  test('that is not loaded is unknown, and the reason is at hand', async () => {
    const options = configured(JSON.stringify({ plugins: [written('broken.mjs', BROKEN)] }));
    const { exitCode, stderr } = await runCli(['serve', written('f', 'x'), '--codec', 'runlength'], options);
    expect(exitCode).toBe(2);
    expect(stderr).toMatch(/warning: plugin \S+broken\.mjs cannot be loaded: boom\n/);
    expect(stderr).toContain('unknown codec "runlength"');
  });
});

describe('a source of a plugin', () => {
  const SOURCE = `
    import { Readable } from 'node:stream';
    const bytes = Buffer.alloc(5_000_000, 'counted ');
    const counter = {
      name: 'counter',
      accepts: (reference) => reference.startsWith('counter://'),
      async open(reference) {
        if (reference.endsWith('/stream')) return { name: 'streamed', stream: Readable.from([bytes.subarray(0, 9), bytes.subarray(9)]) };
        return { name: 'counted', size: bytes.length, remote: true, close: async () => {},
          read: async (offset, into) => bytes.copy(into, 0, offset) };
      },
    };
    export default { name: 'counter', apiVersion: 1, codecs: [], sources: [counter] };`;

  test.each(['counter://x', 'counter://x/stream'])(
    'serves %s to several clients, each byte read once',
    async (reference) => {
      const plugin = written('counter.mjs', SOURCE);
      const { cli, port } = await startServe([
        reference,
        '--plugin',
        plugin,
        '--codec',
        'lz4',
        '--until',
        '3',
        '--name',
        'n',
      ]);
      const gets = [1, 2, 3].map(() => runCli(['get', `127.0.0.1:${port}`, '-o', '/dev/null']));
      for (const { exitCode } of await Promise.all(gets)) expect(exitCode).toBe(0);
      await cli.finished;
      const bytesFromSource = reference.endsWith('x') ? 5_000_000 : 0;
      expect(cli.events.at(-1)).toMatchObject({
        event: 'summary',
        name: 'n',
        size: 5_000_000,
        verified: 3,
        bytesFromSource,
      });
    },
  );
});
