import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { namedCodeBlocks, readMarkdown } from '../support/markdown.js';
import { runCli, startServe } from '../support/run-cli.js';
import { makeTempFolder } from '../support/temp-folder.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const blocks = namedCodeBlocks(readMarkdown('docs/writing-plugins.md'));

let temp: Awaited<ReturnType<typeof makeTempFolder>>;
beforeAll(async () => {
  temp = await makeTempFolder();
  mkdirSync(join(temp.path, 'node_modules'));
  symlinkSync(ROOT, join(temp.path, 'node_modules', 'wirebound'), 'dir');
  for (const name of ['pattern.mjs', 'plugin.test.mjs']) {
    writeFileSync(join(temp.path, name), blocks.get(name) as string);
  }
});
afterAll(() => temp.remove());

describe('the source of docs/writing-plugins.md', () => {
  test('keeps the contract, as `wirebound plugin check` says', async () => {
    const args = ['plugin', 'check', './pattern.mjs', '--reference', 'pattern://3000000'];
    const { exitCode, stdout, stderr } = await runCli(args, { cwd: temp.path });
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    expect(stdout.toString()).toMatch(/\n\d+ promises kept, 0 broken, 0 not run\n$/);
  });

  test('passes the test that stands there', async () => {
    const { stdout } = await promisify(execFile)(process.execPath, ['--test', 'plugin.test.mjs'], {
      cwd: temp.path,
      env: { ...process.env, NODE_OPTIONS: '' },
    });
    expect(stdout).toMatch(/^[#ℹ] fail 0$/m);
    expect(stdout).toMatch(/pattern: every byte can be read/);
  });

  test('serves what it says', async () => {
    const { cli, port } = await startServe(
      ['pattern://1000000', '--plugin', './pattern.mjs', '--until', '1'],
      {
        cwd: temp.path,
      },
    );
    const path = join(temp.path, 'copy');
    expect((await runCli(['get', `127.0.0.1:${port}`, '-o', path])).exitCode).toBe(0);
    await cli.finished;
    const expected = Buffer.alloc(1_000_000);
    for (let at = 0; at < expected.length; at += 8) expected.writeUInt32LE(at / 8, at);
    expect(readFileSync(path).equals(expected)).toBe(true);
  });
});

describe('wirebound plugin check', () => {
  const bad = fileURLToPath(new URL('../support/bad-plugins/truncates.mjs', import.meta.url));

  test('ends with exit code 9 and names what is broken, for people and programs', async () => {
    const { exitCode, stdout } = await runCli(['plugin', 'check', bad]);
    expect(exitCode).toBe(9);
    expect(stdout.toString()).toMatch(/^BROKEN {3}codec truncates: text and zeros of any size come back/m);
    const json = await runCli(['plugin', 'check', bad, '--json']);
    const events = json.stdout
      .toString()
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(events[0]).toMatchObject({ event: 'plugin', name: 'truncates', codecs: ['truncates'] });
    expect(events).toContainEqual(
      expect.objectContaining({ event: 'case', kind: 'codec', name: 'truncates', outcome: 'broken' }),
    );
    expect(events).toContainEqual(expect.objectContaining({ event: 'figures', content: 'log text' }));
    expect(events.at(-1)).toMatchObject({ event: 'check', notRun: 0 });
  });

  test('says that a source was not checked for want of something to open', async () => {
    const { exitCode, stdout } = await runCli(['plugin', 'check', './pattern.mjs'], { cwd: temp.path });
    expect(exitCode).toBe(0);
    expect(stdout.toString()).toMatch(
      /not run {2}source pattern: the source contract\n +give it .*--reference\n/,
    );
  });

  test('of what cannot be loaded says why', async () => {
    const { exitCode, stderr } = await runCli(['plugin', 'check', './nowhere.mjs'], { cwd: temp.path });
    expect(exitCode).toBe(9);
    expect(stderr).toMatch(/^wirebound: plugin \.\/nowhere\.mjs cannot be loaded: /);
  });
});

describe('wirebound plugin create', () => {
  test.each(['codec', 'source'])('writes a whole package for a %s, once', async (kind) => {
    const { exitCode, stdout } = await runCli(['plugin', 'create', kind, 'mine', '--json'], {
      cwd: temp.path,
    });
    expect(exitCode).toBe(0);
    const folder = join(temp.path, `wirebound-${kind}-mine`);
    const files = [
      '.gitignore',
      'README.md',
      'package.json',
      'src/index.test.ts',
      'src/index.ts',
      'tsconfig.json',
    ];
    expect(JSON.parse(stdout.toString())).toEqual({
      event: 'created',
      kind,
      name: 'mine',
      package: `wirebound-${kind}-mine`,
      folder,
      files,
    });
    for (const file of files) expect(readFileSync(join(folder, file), 'utf8')).not.toContain('{{');
    expect(JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))).toMatchObject({
      name: `wirebound-${kind}-mine`,
      peerDependencies: { wirebound: '^0.1.0' },
    });
    const again = await runCli(['plugin', 'create', kind, 'mine'], { cwd: temp.path });
    expect(again.exitCode).toBe(2);
    expect(again.stderr).toContain('is there already and not empty');
  });

  test.each([
    [['codec', 'Not A Name'], '"Not A Name" cannot name a codec'],
    [['sink', 'x'], 'sink'],
    [['codec'], 'missing NAME'],
  ])('refuses %j', async (args, message) => {
    const { exitCode, stderr } = await runCli(['plugin', 'create', ...args], { cwd: temp.path });
    expect(exitCode).toBe(2);
    expect(stderr).toContain(message);
  });
});
