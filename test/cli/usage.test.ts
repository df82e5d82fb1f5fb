import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { runCli } from '../support/run-cli.js';
import { withTempFolder } from '../support/temp-folder.js';

const NOISE = /node:internal|^ {4}at |\[object |undefined|NaN|Warning/m;

describe('a command line that is wrong', () => {
  test.each([
    [['bogus'], 'bogus'],
    [['get'], 'missing HOST'],
    [['serve'], 'missing FILE'],
    [['get', '--nope', 'x'], '--nope'],
    [['get', 'x', 'y'], 'y'],
    [['get', 'x', '--', '-o'], '-o'],
    [['get', 'x', '--port'], '--port'],
    [['get', 'x', '-p', '1', '-p', '2'], '--port'],
    [['get', ''], '""'],
    [['get', 'http://127.0.0.1:6767/'], 'not a URL'],
    [['get', 'user@host'], '"user@host"'],
    [['get', 'fe80::1'], '%eth0'],
    [['get', 'x:1', '--port', '2'], '--port says 2'],
    [['get', 'x', '--port', '0'], '--port "0"'],
    [['get', 'x', '--expect', 'abc'], '--expect "abc"'],
    [['get', 'x', '--wait', '1e3'], '--wait "1e3"'],
    [['serve', 'x', '--chunk', '-1'], '--chunk "-1"'],
    [['serve', 'x', '--chunk=-1'], '--chunk "-1"'],
    [['serve', 'x', '--chunk', ''], '--chunk ""'],
    [['serve', 'x', '--port', '65536'], '--port "65536"'],
    [['serve', 'x', '--host', ''], '--host ""'],
    [['serve', 'x', '--host', '127.0.0.1:1'], '--host "127.0.0.1:1"'],
    [['serve', 'x', '--name', 'a/b'], '--name "a/b"'],
    [['serve', 'x', '--until', '0'], '--until "0"'],
    [['serve', 'x', '--max-clients', 'many'], '--max-clients "many"'],
    [['serve', 'x', '--limit-rate', '50'], '--limit-rate "50"'],
    [['serve', 'x', '--memory', '1G5'], '--memory "1G5"'],
  ])('%j ends with exit code 2, names what is wrong, and shows the usage', async (args, token) => {
    const { exitCode, stdout, stderr } = await runCli(args);
    expect(exitCode).toBe(2);
    expect(stdout.toString()).toBe('');
    const [first, usage] = stderr.split('\n');
    expect(first).toMatch(/^wirebound: /);
    expect(first).toContain(token);
    expect(usage).toMatch(/^ {2}usage: wirebound /);
    expect(stderr).not.toMatch(NOISE);
  });

  test.each([
    ['bogus'],
    ['get'],
    ['get', '--nope', 'x'],
    ['get', 'x', '-o', '-'],
    ['serve', 'x', '--chunk', '1'],
  ])('tells a program about %j as a line of JSON', async (...args) => {
    const { exitCode, stdout, stderr } = await runCli([...args, '--json']);
    expect(exitCode).toBe(2);
    expect(stderr).toBe('');
    expect(JSON.parse(stdout.toString())).toMatchObject({ event: 'error', code: 'USAGE' });
  });
});

describe('help and version', () => {
  test.each([
    ['--help'],
    ['-h'],
    ['serve', '--help'],
    ['serve', '-h'],
    ['get', '--help'],
    ['codecs', '--help'],
    ['--version'],
    [],
  ])('%j goes to standard output with exit code 0', async (...args) => {
    const { exitCode, stdout, stderr } = await runCli(args);
    expect(exitCode).toBe(0);
    expect(stdout.toString()).toContain('wirebound');
    expect(stderr).toBe('');
  });

  test.each(['test', 'development', 'production'])(
    'looks for no compiler under NODE_ENV=%s',
    async (mode) => {
      const { exitCode, stderr } = await runCli(['get', '--help'], { env: { NODE_ENV: mode } });
      expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    },
  );

  test('needs no folder of its own', async () => {
    await withTempFolder(async (folder) => {
      const home = join(folder, 'home');
      mkdirSync(home);
      const env = { HOME: home, XDG_CACHE_HOME: '', XDG_CONFIG_HOME: '', XDG_DATA_HOME: '' };
      expect((await runCli(['--help'], { env })).exitCode).toBe(0);
      expect(readdirSync(home)).toEqual([]);
      expect((await runCli(['--help'], { env: { ...env, HOME: '/nonexistent' } })).exitCode).toBe(0);
    });
  });
});

describe('an output that is closed', () => {
  /** Runs `wirebound ARGS` in a shell with the given redirection. */
  function inShell(args: string, redirection: string) {
    const script = `"$0" "$1" ${args} ${redirection}`;
    return runCli([], { under: ['sh', '-c', script] });
  }

  test.each([
    ['--help', '>&-'],
    ['--help', '2>&-'],
    ['--help', '<&-'],
    ['--help', '>/dev/full'],
    ['--help', '| true'],
  ])('%s %s ends quietly', async (args, redirection) => {
    const { exitCode, stderr } = await inShell(args, redirection);
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
  });

  test.each(['2>&-', '2>/dev/full', '>&- 2>&-'])(
    'a failure with %s keeps its exit code',
    async (redirection) => {
      expect((await inShell('get --nope', redirection)).exitCode).toBe(2);
    },
  );
});

describe('the listings', () => {
  test.each([
    ['codecs', 'codec', 'none'],
    ['sources', 'source', 'file'],
  ])(
    '%s shows what is registered, as a table, as names, and as lines of JSON',
    async (command, event, name) => {
      const table = await runCli([command]);
      expect(table.exitCode).toBe(0);
      expect(table.stdout.toString()).toMatch(/^NAME +FROM +WORKS HERE\n/);
      expect(table.stdout.toString()).toMatch(new RegExp(`^${name} .* yes$`, 'm'));
      const names = (await runCli([command, '-q'])).stdout.toString().trimEnd().split('\n');
      expect(names).toContain(name);
      const lines = (await runCli([command, '--json'])).stdout.toString().trimEnd().split('\n');
      const listed = lines.map((line) => JSON.parse(line));
      expect(listed.map((entry) => entry.name)).toEqual(names);
      expect(listed).toContainEqual(expect.objectContaining({ event, name, available: true }));
    },
  );
});
