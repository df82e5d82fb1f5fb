import { execFileSync } from 'node:child_process';
import { chmod, link, mkdir, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { content } from '../support/content.js';
import { ONE_THREAD, strace } from '../support/kill-trials.js';
import { type CliOptions, runCli } from '../support/run-cli.js';
import { makeTempFolder } from '../support/temp-folder.js';
import { openTestServer, type TestServer, testGet } from '../support/test-server.js';

const MIB = 2 ** 20;
const FILE = content('random', 4 * MIB);
const canMount = process.platform === 'linux' && process.getuid?.() === 0;
const linuxTest = process.platform === 'linux' ? test : test.skip;
const rootTest = canMount ? test : test.skip;

let folder: Awaited<ReturnType<typeof makeTempFolder>>;
let source: string;
let server: TestServer;
const disks: string[] = [];
let clients = 0;

beforeAll(async () => {
  folder = await makeTempFolder();
  source = join(folder.path, 'source.bin');
  await writeFile(source, FILE);
  server = await openTestServer(source);
});
afterEach(() => {
  for (const disk of disks.splice(0)) execFileSync('umount', [disk]);
});
afterAll(async () => {
  await server.stop();
  await folder.remove();
});

/** A folder of its own for one test. */
async function place(name: string, size?: string): Promise<string> {
  const path = join(folder.path, name);
  await mkdir(path);
  if (size === undefined) return path;
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'none', path]);
  disks.push(path);
  return path;
}

async function get(output: string, options: CliOptions = {}, flags: readonly string[] = []) {
  clients++;
  return runCli(['get', `127.0.0.1:${server.port}`, '-o', output, ...flags], options);
}

describe('a destination that cannot take the file ends the get with exit code 8 and the reason, the server hears it (B05 B43 B44)', () => {
  const cases: readonly (readonly [string, (partial: string) => CliOptions, RegExp])[] = [
    [
      'ENOSPC at a write',
      () => ({ under: strace('pwrite64,pwritev', 'error=ENOSPC:when=2+'), env: ONE_THREAD }),
      /cannot write byte \d+ of 4194304 to \S+: no space left on device \(ENOSPC\) \(SINK_FULL\)/,
    ],
    [
      'EIO at a write',
      () => ({ under: strace('pwrite64,pwritev', 'error=EIO:when=1+'), env: ONE_THREAD }),
      /cannot write byte \d+ of 4194304 to \S+: i\/o error \(EIO\) \(SINK_FAILED\)/,
    ],
    [
      'EIO at the flush',
      (partial) => ({ under: strace('fsync', 'error=EIO:when=1+', partial), env: ONE_THREAD }),
      /cannot finish \S+: i\/o error \(EIO\) \(SINK_FAILED\)/,
    ],
    [
      'EACCES at the publishing',
      () => ({ under: strace('link', 'error=EACCES:when=1+'), env: ONE_THREAD }),
      /cannot publish \S+: permission denied \(EACCES\) \(SINK_FAILED\)/,
    ],
    [
      'EDQUOT at a write',
      () => ({ under: strace('pwrite64,pwritev', 'error=EDQUOT:when=1+'), env: ONE_THREAD }),
      /disk quota exceeded \(EDQUOT\) \(SINK_FULL\)/,
    ],
    [
      'a limit of file size',
      () => ({ under: ['prlimit', '--fsize=1000000'] }),
      /file too large \(EFBIG\) \(SINK_FAILED\)/,
    ],
  ];
  linuxTest.each(cases)('%s', async (what, optionsFor, reason) => {
    const output = join(await place(what.replaceAll(' ', '-')), 'out');
    const { exitCode, stderr } = await get(output, optionsFor(`${output}.wirebound`));
    expect(stderr).toMatch(reason);
    expect(stderr).toContain(`${output}.wirebound`);
    expect(exitCode).toBe(8);
    await expect(readFile(output)).rejects.toMatchObject({ code: 'ENOENT' });
    const finished = await server.event('client.finished', ({ client }) => client === clients);
    expect(finished.verified).toBe(false);
    expect(finished.code).toMatch(/^SINK_/);
    // Nothing is lost, and nothing is in the way of the next run.
    expect(await get(output)).toMatchObject({ exitCode: 0 });
    expect(Buffer.compare(await readFile(output), FILE)).toBe(0);
  });

  rootTest('a disk that is too small from the start, before any payload', async () => {
    const disk = await place('small', '1m');
    const { exitCode, stderr } = await get(join(disk, 'out'));
    expect(exitCode).toBe(8);
    expect(stderr).toMatch(
      /not enough room in \S+: 4194304 bytes are needed, \d+ are available \(SINK_FULL\)/,
    );
    expect(await readdir(disk)).toEqual([]);
    const finished = await server.event('client.finished', ({ client }) => client === clients);
    expect(finished).toMatchObject({ verified: false, bytes: 0, code: 'SINK_FULL' });
  });

  rootTest('a disk that somebody else fills meanwhile', async () => {
    const disk = await place('shared', '6m');
    const options = { under: strace('pwrite64,pwritev', 'delay_enter=50000'), env: ONE_THREAD };
    const running = get(join(disk, 'out'), options);
    const written = () =>
      stat(join(disk, 'out.wirebound')).then(
        ({ size }) => size > 0,
        () => false,
      );
    while (!(await written())) await new Promise((resolve) => setTimeout(resolve, 5));
    // It takes all there is, should the get have written more than 1 MiB already.
    await writeFile(join(disk, 'other'), Buffer.alloc(5 * MIB)).catch(({ code }) =>
      expect(code).toBe('ENOSPC'),
    );
    const { exitCode, stderr } = await running;
    expect(exitCode).toBe(8);
    expect(stderr).toMatch(/no space left on device \(ENOSPC\)/);
    expect((await readdir(disk)).sort()).toEqual(['other', 'out.wirebound']);
  });
});

describe('a slow disk (B19)', () => {
  linuxTest('slows the transfer down and costs no memory', async () => {
    const big = join(folder.path, 'big.bin');
    await writeFile(big, content('random', 48 * MIB));
    const bigServer = await openTestServer(big, { chunkSize: 256 * 1024 });
    const output = join(await place('slow'), 'out');
    const { exitCode, stdout } = await runCli(
      ['get', '--json', `127.0.0.1:${bigServer.port}`, '-o', output],
      {
        under: strace('pwrite64,pwritev', 'delay_enter=20000'),
        env: {
          ...ONE_THREAD,
          NODE_OPTIONS: `--import=${new URL('../support/print-peak-memory.js', import.meta.url).href}`,
        },
      },
    );
    await bigServer.stop();
    expect(exitCode).toBe(0);
    const peak = Number(/"peakMemory":(\d+)/.exec(stdout.toString())?.[1]);
    expect(peak).toBeGreaterThan(0);
    expect(peak).toBeLessThan(250 * MIB);
    await rm(output);
  });
});

describe('what else may be at the destination', () => {
  test('of two servers with different files only one wins, whole (B35)', async () => {
    const other = join(folder.path, 'other.bin');
    const otherFile = content('random', 4 * MIB, 99);
    await writeFile(other, otherFile);
    const second = await openTestServer(other);
    const output = join(await place('race'), 'out');
    for (let round = 0; round < 20; round++) {
      const results = await Promise.all(
        [server.port, second.port, server.port].map((port) =>
          testGet(port, { output }).catch((error) => error),
        ),
      );
      clients += 2;
      const there = await readFile(output);
      expect(there.equals(FILE) || there.equals(otherFile)).toBe(true);
      const losers = results.filter(({ result }) => result !== 'PASS');
      for (const { code } of losers) expect(['SINK_IN_USE', 'SINK_EXISTS']).toContain(code);
      expect(await readdir(join(folder.path, 'race'))).toEqual(['out']);
      await rm(output);
    }
    await second.stop();
  });

  test.each([
    ['a link', (path: string, victim: string) => symlink(victim, path)],
    ['a dangling link', (path: string) => symlink('/nope/x', path)],
    ['a hard link', (path: string, victim: string) => link(victim, path)],
    ['a pipe', async (path: string) => void execFileSync('mkfifo', [path])],
  ])('%s planted there, or at the partial, is never written through (B71)', async (what, plant) => {
    const here = await place(what.replaceAll(' ', '-'));
    const victim = join(here, 'victim');
    await writeFile(victim, 'victim');
    for (const name of ['out', 'out.wirebound']) {
      await plant(join(here, name), victim);
      const result = await testGet(server.port, { output: join(here, 'out') }).catch((error) => error);
      clients++;
      expect(['SINK_EXISTS', 'SINK_UNSAFE']).toContain(result.code);
      expect(await readFile(victim, 'utf8')).toBe('victim');
      await rm(join(here, name));
    }
  });

  test('a device that is always full is refused, and nothing is nothing (B71)', async () => {
    expect(await get('/dev/full')).toMatchObject({ exitCode: 8 });
    expect(await get('/dev/null')).toMatchObject({ exitCode: 0 });
  });

  test('neither TMPDIR nor HOME nor the XDG folders are needed (B87)', async () => {
    const here = await place('homeless');
    const env = {
      TMPDIR: '/nonexistent',
      HOME: '/nonexistent',
      XDG_CACHE_HOME: undefined,
      XDG_CONFIG_HOME: undefined,
      XDG_DATA_HOME: undefined,
    };
    const { exitCode, stderr } = await get(join(here, 'out'), { env });
    expect(stderr).not.toMatch(/warning|EACCES|ENOENT/i);
    expect(exitCode).toBe(0);
    expect(await readdir(here)).toEqual(['out']);
  });

  test('left-overs of a crashed run are no obstacle (B91)', async () => {
    const here = await place('leftovers');
    await writeFile(join(here, 'out.wirebound'), '');
    await writeFile(join(here, 'out.wirebound.lock'), '');
    expect(await get(join(here, 'out'))).toMatchObject({ exitCode: 0 });
    expect((await readdir(here)).filter((name) => name.endsWith('.wirebound'))).toEqual([]);
  });

  rootTest(
    'a partial of another user in a foreign folder is named, and how to get rid of it (B91)',
    async () => {
      const here = await place('foreign');
      await chmod(here, 0o777);
      await chmod(folder.path, 0o755);
      await writeFile(join(here, 'out.wirebound'), FILE.subarray(0, 100));
      const { exitCode, stderr } = await get(join(here, 'out'), {
        under: ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups'],
        env: { HOME: '/nonexistent' },
      });
      expect(exitCode).toBe(8);
      expect(stderr).toMatch(/out\.wirebound/);
    },
  );
});
