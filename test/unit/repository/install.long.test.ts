import { execFile } from 'node:child_process';
import { cp, mkdir, readdir, realpath, symlink, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { makeTempFolder } from '../../support/temp-folder.js';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const { version } = createRequire(import.meta.url)('../../../package.json') as { version: string };

describe('on a machine without a compiler', () => {
  let folder: Awaited<ReturnType<typeof makeTempFolder>>;
  let npm: string;
  let env: NodeJS.ProcessEnv;

  beforeAll(async () => {
    folder = await makeTempFolder();
    npm = await realpath(join(dirname(process.execPath), 'npm'));
    const bin = join(folder.path, 'bin');
    await mkdir(bin);
    await symlink(process.execPath, join(bin, 'node'));
    for (const tool of ['sh', 'env']) await symlink(await realpath(join('/usr/bin', tool)), join(bin, tool));
    env = { ...process.env, PATH: bin };
    for (const name of ['NODE_OPTIONS', 'CC', 'CXX', 'PYTHON', 'npm_config_python']) delete env[name];
  });
  afterAll(() => folder.remove());

  /** Resolves to standard output; rejects when the exit code is not 0 or anything was warned of. */
  function run(script: string, args: readonly string[], cwd: string): Promise<string> {
    return new Promise((resolve, reject) => {
      execFile(process.execPath, [script, ...args], { cwd, env }, (error, stdout, stderr) => {
        if (error === null && !/warn/i.test(stderr)) resolve(stdout);
        else reject(error ?? new Error(stderr));
      });
    });
  }

  async function workspaces(): Promise<readonly string[]> {
    const entries = await readdir(join(ROOT, 'packages'), { withFileTypes: true });
    return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
  }

  test('npm ci works without a word, and only mmap-io is missing', async () => {
    const checkout = join(folder.path, 'checkout');
    await mkdir(checkout);
    for (const file of ['package.json', 'package-lock.json'])
      await cp(join(ROOT, file), join(checkout, file));
    for (const name of await workspaces()) {
      await mkdir(join(checkout, 'packages', name), { recursive: true });
      const manifest = join('packages', name, 'package.json');
      await cp(join(ROOT, manifest), join(checkout, manifest));
    }
    await run(npm, ['ci', '--prefer-offline'], checkout);
    const require = createRequire(join(checkout, 'package.json'));
    expect(require.resolve('koffi')).toContain(checkout);
    expect(require('koffi')).toHaveProperty('load');
    expect(require('lz4-napi')).toHaveProperty('compress');
    expect(() => require('mmap-io')).toThrow();
  });

  test('the packed package installs, starts, and lists its codecs', async () => {
    await run(npm, ['pack', '--ignore-scripts', '--pack-destination', folder.path], ROOT);
    const home = join(folder.path, 'user');
    await mkdir(home);
    await writeFile(join(home, 'package.json'), '{ "allowScripts": { "mmap-io": true, "koffi": false } }\n');
    await run(npm, ['install', '--prefer-offline', join(folder.path, `wirebound-${version}.tgz`)], home);
    const binary = join(home, 'node_modules/wirebound/bin/run.js');
    expect(await run(binary, ['--version'], home)).toContain(`wirebound/${version} `);
    expect(await run(binary, ['codecs', '--json'], home)).toContain('lz4');
  });
});
