import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { namedCodeBlocks, readMarkdown } from '../support/markdown.js';
import { runCli, startServe } from '../support/run-cli.js';
import { makeTempFolder } from '../support/temp-folder.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const NPM = realpathSync(join(dirname(process.execPath), 'npm'));
const { version } = createRequire(import.meta.url)('../../package.json') as { version: string };
const RUNLENGTH = namedCodeBlocks(readMarkdown('docs/writing-plugins.md')).get('src/index.ts') as string;

/** Resolves to standard output; rejects, with everything that was printed, unless the exit code is 0. */
function npm(args: readonly string[], cwd: string): Promise<string> {
  const env = { ...process.env, NODE_OPTIONS: '' };
  return new Promise((resolve, reject) => {
    execFile(process.execPath, [NPM, ...args], { cwd, env }, (error, stdout, stderr) => {
      if (error === null) resolve(stdout);
      else reject(new Error(`${error.message}\n${stdout}\n${stderr}`));
    });
  });
}

/** Lines of code, without comments and blank lines. */
function ownLines(code: string): number {
  return code.split('\n').filter((line) => !/^\s*($|\/\/|\/\*)/.test(line)).length;
}

/** docs/writing-plugins.md, line by line, outside of the checkout. */
describe('a stranger with the packed package', () => {
  let temp: Awaited<ReturnType<typeof makeTempFolder>>;
  let home: string;
  let script: string;
  beforeAll(async () => {
    temp = await makeTempFolder();
    home = join(temp.path, 'try');
    mkdirSync(home);
    await npm(['pack', '--ignore-scripts', '--pack-destination', temp.path], ROOT);
    await npm(['init', '-y'], home);
    await npm(['install', '--prefer-offline', `../wirebound-${version}.tgz`], home);
    script = join(home, 'node_modules', 'wirebound', 'bin', 'run.js');
  });
  afterAll(() => temp.remove());

  test('makes a codec of less than 25 lines, tests it, and serves with it', async () => {
    await runCli(['plugin', 'create', 'codec', 'runlength'], { cwd: home, script });
    const folder = join(home, 'wirebound-codec-runlength');
    await npm(['install', '--prefer-offline'], folder);
    expect(await npm(['test'], folder)).toMatch(/^[#ℹ] fail 0$/m);

    expect(ownLines(RUNLENGTH)).toBeLessThan(25);
    writeFileSync(join(folder, 'src', 'index.ts'), RUNLENGTH);
    const report = await npm(['test'], folder);
    expect(report).toMatch(/^[#ℹ] fail 0$/m);
    expect(report).toMatch(/runlength: any bytes come back as they were/);
    expect(await npm(['run', 'check'], folder)).toMatch(/\n16 promises kept, 0 broken, 0 not run\n/);

    const zeros = Buffer.alloc(50_000_000);
    writeFileSync(join(folder, 'zeros.bin'), zeros);
    // From here on with the copy that the new package depends on, as npx would take it.
    const own = { cwd: folder, script: join(folder, 'node_modules', 'wirebound', 'bin', 'run.js') };
    const { cli, port } = await startServe(
      ['zeros.bin', '--plugin', '.', '--codec', 'runlength', '--until', '2'],
      own,
    );
    const host = `127.0.0.1:${port}`;
    expect((await runCli(['get', host, '--plugin', '.', '-o', 'with.bin'], own)).exitCode).toBe(0);
    expect((await runCli(['get', host, '-o', 'without.bin'], { ...own, script })).exitCode).toBe(0);
    for (const name of ['with.bin', 'without.bin']) {
      expect(readFileSync(join(folder, name)).equals(zeros)).toBe(true);
    }
    expect((await cli.finished).exitCode).toBe(0);
    expect(cli.events.at(-1)).toMatchObject({ verified: 2, chunksEncoded: 191, chunksRaw: 191 });
  });

  test('makes a source whose tests pass, and serves with it', async () => {
    await runCli(['plugin', 'create', 'source', 'shelf'], { cwd: home, script });
    const folder = join(home, 'wirebound-source-shelf');
    await npm(['install', '--prefer-offline'], folder);
    expect(await npm(['test'], folder)).toMatch(/^[#ℹ] fail 0$/m);
    const { cli, port } = await startServe(
      [`shelf://${join(folder, 'package.json')}`, '--plugin', '.', '--until', '1'],
      {
        cwd: folder,
        script,
      },
    );
    const copy = join(folder, 'copy.json');
    expect((await runCli(['get', `127.0.0.1:${port}`, '-o', copy])).exitCode).toBe(0);
    expect(readFileSync(copy, 'utf8')).toBe(readFileSync(join(folder, 'package.json'), 'utf8'));
    await cli.finished;
  });

  test('publishes a package that holds what was built, without its tests', async () => {
    const folder = join(home, 'wirebound-codec-runlength');
    const [packed] = JSON.parse(await npm(['pack', '--json', '--dry-run'], folder)) as [
      { readonly files: readonly { readonly path: string }[] },
    ];
    expect(packed.files.map(({ path }) => path).sort()).toEqual([
      'README.md',
      'dist/index.d.ts',
      'dist/index.js',
      'package.json',
    ]);
  });
});
