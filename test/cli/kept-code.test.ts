import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from '@jest/globals';
import { runCli, startServe } from '../support/run-cli.js';
import { withTempFolder } from '../support/temp-folder.js';

const PLUGIN = fileURLToPath(new URL('../support/plugins/runlength.mjs', import.meta.url));

/** Runs a command that imports a module at run time, which kept code cannot do by itself. */
async function listCodecs(cache: string): Promise<void> {
  const { exitCode, stdout, stderr } = await runCli(['codecs', '--plugin', PLUGIN], {
    env: { XDG_CACHE_HOME: cache },
  });
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
  expect(stdout.toString()).toContain('runlength');
}

test('the code of a command is kept, used again and replaced when it is damaged or of another version', async () => {
  await withTempFolder(async (cache) => {
    const file = join(cache, 'wirebound/code/codecs');
    await listCodecs(cache);
    const first = await stat(file);
    expect(await readdir(join(cache, 'wirebound/code'))).toEqual(['codecs']);
    await listCodecs(cache);
    expect((await stat(file)).ino).toBe(first.ino); // not written again
    for (const damage of [Buffer.alloc(0), Buffer.alloc(100), (await readFile(file)).subarray(0, 5_000)]) {
      await writeFile(file, damage);
      await listCodecs(cache);
      expect((await stat(file)).size).toBeGreaterThan(10_000);
    }
  });
});

test('what is no command, and what fails, keeps nothing', async () => {
  await withTempFolder(async (cache) => {
    const env = { XDG_CACHE_HOME: cache };
    expect((await runCli(['--version'], { env })).exitCode).toBe(0);
    expect((await runCli(['nonsense'], { env })).exitCode).toBe(2);
    expect(await readdir(cache)).toEqual([]);
  });
});

test('a download, which changes how V8 compiles, leaves code that fits the next one', async () => {
  await withTempFolder(async (cache) => {
    await writeFile(join(cache, 'served'), 'content');
    const { port } = await startServe([join(cache, 'served')]);
    const kept = async () => {
      const args = ['get', `127.0.0.1:${port}`, '-o', '/dev/null'];
      expect((await runCli(args, { env: { XDG_CACHE_HOME: cache } })).exitCode).toBe(0);
      return (await stat(join(cache, 'wirebound/code/get'))).ino;
    };
    expect(await kept()).toBe(await kept());
  });
});
