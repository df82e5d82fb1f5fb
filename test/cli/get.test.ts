import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chmod, mkdir, readdir, readFile, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { CliProcess } from '../support/cli-process.js';
import { content } from '../support/content.js';
import { freePort } from '../support/free-port.js';
import { runCli, startCli, startServe } from '../support/run-cli.js';
import { makeTempFolder } from '../support/temp-folder.js';

const BYTES = content('random', 8 * 1024 * 1024 + 5);
const SHA256 = createHash('sha256').update(BYTES).digest('hex');
const NAME = 'served.bin';

type Folder = Awaited<ReturnType<typeof makeTempFolder>>;
let source: Folder;
let file: string;
let server: { readonly cli: CliProcess; readonly port: number };
let here: Folder;
beforeAll(async () => {
  source = await makeTempFolder();
  file = join(source.path, NAME);
  await writeFile(file, BYTES);
  server = await startServe([file]);
  await server.cli.event('digest');
});
afterAll(() => source.remove());
beforeEach(async () => {
  here = await makeTempFolder();
});
afterEach(() => here.remove());

function get(...flags: string[]) {
  return runCli(['get', `127.0.0.1:${server.port}`, ...flags], { cwd: here.path });
}

function lastEvent(stdout: Buffer): Record<string, unknown> {
  return JSON.parse(stdout.toString().trimEnd().split('\n').at(-1) ?? '');
}

describe('where the file goes', () => {
  test('without -o into the current folder, under its name and with its date', async () => {
    const { exitCode, stdout, stderr } = await get();
    expect(exitCode).toBe(0);
    expect(stdout.toString()).toBe('');
    expect(await readdir(here.path)).toEqual([NAME]);
    expect(BYTES.equals(await readFile(join(here.path, NAME)))).toBe(true);
    const [mtimeMs, wanted] = [(await stat(join(here.path, NAME))).mtimeMs, (await stat(file)).mtimeMs];
    expect(Math.floor(mtimeMs)).toBe(Math.floor(wanted));
    expect(stderr).toMatch(/^getting {2}served\.bin: 8 MiB in 33 chunks of 256 KiB$/m);
    expect(stderr).toMatch(/^PASS {5}served\.bin$/m);
    expect(stderr).toContain(`SHA-256  ${SHA256}\n`);
    expect(stderr).toMatch(/^size {5}8 MiB in .+ \(.+\/s.*\)$/m);
    expect(stderr).toContain(`file     ${join(here.path, NAME)}\n`);
  });

  test.each(['sub', 'sub/', './sub/.'])('-o %s, a folder that is there: into it', async (output) => {
    await mkdir(join(here.path, 'sub'));
    expect((await get('-o', output)).exitCode).toBe(0);
    expect(await readdir(join(here.path, 'sub'))).toEqual([NAME]);
  });

  test('-o FILE: there, whatever the server calls it', async () => {
    const { exitCode } = await runCli(
      ['get', '--port', String(server.port), '--output=mine.bin', '127.0.0.1'],
      { cwd: here.path },
    );
    expect(exitCode).toBe(0);
    expect(await readdir(here.path)).toEqual(['mine.bin']);
    expect(BYTES.equals(await readFile(join(here.path, 'mine.bin')))).toBe(true);
  });

  test('-o - to standard output, and nothing else with it', async () => {
    const { exitCode, stdout, stderr } = await get('-o', '-');
    expect(exitCode).toBe(0);
    expect(BYTES.equals(stdout)).toBe(true);
    expect(stderr).toMatch(/^PASS/m);
    expect(await readdir(here.path)).toEqual([]);
  });

  test('-o - into a reader that stops early: one line, and no stack', async () => {
    const script = `"$0" "$1" get 127.0.0.1:${server.port} -o - -q | head -c 100 | wc -c`;
    const { exitCode, stdout, stderr } = await runCli([], { under: ['sh', '-c', script] });
    expect(exitCode).toBe(0);
    expect(stdout.toString().trim()).toBe('100');
    expect(stderr).toMatch(/^FAIL {5}served\.bin: standard output was closed \(SINK_FAILED\)$/m);
    expect(stderr).not.toMatch(/^ {4}at |node:/m);
  });

  test('-o /dev/null: nowhere, verified all the same', async () => {
    const { exitCode, stdout } = await get('-o', '/dev/null', '--json');
    expect(exitCode).toBe(0);
    expect(lastEvent(stdout)).toMatchObject({ event: 'result', result: 'PASS', sha256: SHA256 });
    expect(await readdir(here.path)).toEqual([]);
    expect((await stat('/dev/null')).isCharacterDevice()).toBe(true);
  });

  test('-o - with --json, and onto a terminal, are usage errors before anything is connected', async () => {
    const unused = await freePort();
    const both = await runCli(['get', `127.0.0.1:${unused}`, '-o', '-', '--json']);
    expect(both.exitCode).toBe(2);
    expect(lastEvent(both.stdout)).toMatchObject({ event: 'error', code: 'USAGE' });
    const onTerminal = await runCli([], {
      under: ['sh', '-c', `script -qec "'$0' '$1' get 127.0.0.1:${unused} -o -" /dev/null`],
    });
    expect(onTerminal.exitCode).toBe(2);
    expect(onTerminal.stdout.toString()).toContain('would write the file onto the terminal');
  });

  test('an empty file arrives too, and no figure is NaN', async () => {
    const empty = join(here.path, 'empty');
    await writeFile(empty, '');
    const serve = startCli(['serve', empty, '--host', '127.0.0.1', '--port', '0', '--until', '1']);
    const port = /port (\d+)/.exec(await serve.line(/port \d+/))?.[1];
    const { exitCode, stderr } = await runCli(['get', `127.0.0.1:${port}`, '-o', join(here.path, 'copy')]);
    expect(exitCode).toBe(0);
    expect((await stat(join(here.path, 'copy'))).size).toBe(0);
    expect(stderr).toContain('e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855');
    expect((await serve.finished).exitCode).toBe(0);
    expect(stderr + serve.stderr).not.toMatch(/NaN|Infinity|undefined/);
  });

  test('an executable stays one', async () => {
    const script = join(here.path, 'run.sh');
    await writeFile(script, '#!/bin/sh\n');
    await chmod(script, 0o4755);
    const { port } = await startServe([script]);
    const args = ['get', `127.0.0.1:${port}`, '-o', 'copy.sh'];
    expect((await runCli(args, { cwd: here.path })).exitCode).toBe(0);
    const { mode } = await stat(join(here.path, 'copy.sh'));
    expect(mode & 0o111).not.toBe(0);
    expect(mode & 0o7000).toBe(0);
  });
});

describe('a target that is there already', () => {
  let target: string;
  beforeEach(() => {
    target = join(here.path, NAME);
  });

  test('and identical is already complete: PASS, without payload', async () => {
    await writeFile(target, BYTES);
    const { exitCode, stdout } = await get('--json');
    expect(exitCode).toBe(0);
    const result = lastEvent(stdout);
    expect(result).toMatchObject({ result: 'PASS', sha256: SHA256, alreadyComplete: true });
    expect(result.bytesOnWire).toBeLessThan(16 * 1024);
    expect(await readdir(here.path)).toEqual([NAME]);
    const people = await get();
    expect(people.exitCode).toBe(0);
    expect(people.stderr).toMatch(/^size {5}8 MiB, already complete$/m);
  });

  const other = Buffer.from(BYTES);
  other[BYTES.length - 1] = (other[BYTES.length - 1] ?? 0) ^ 1;
  test.each([
    ['smaller', Buffer.from('potato')],
    ['as large', other],
    ['empty', Buffer.alloc(0)],
  ])('and %s but different is refused before any payload, untouched', async (_, old) => {
    await writeFile(target, old);
    await utimes(target, 1000, 1000);
    const before = await stat(target, { bigint: true });
    const { exitCode, stdout } = await get('--json');
    expect(exitCode).toBe(8);
    const failure = JSON.parse(/^.*"event":"error".*$/m.exec(stdout.toString())?.[0] ?? '');
    expect(failure).toMatchObject({ code: 'SINK_EXISTS', message: expect.stringContaining(target) });
    expect(failure.message).toContain('exists');
    // Without payload: there was no chunk among what came.
    expect(Number(lastEvent(stdout).bytesOnWire ?? 0)).toBeLessThan(16 * 1024);
    expect(old.equals(await readFile(target))).toBe(true);
    const after = await stat(target, { bigint: true });
    expect([after.ino, after.mtimeNs]).toEqual([before.ino, before.mtimeNs]);
    expect(await readdir(here.path)).toEqual([NAME]);
    const people = await get();
    expect(people.exitCode).toBe(8);
    expect(people.stderr).toContain('--force');
  });

  test('and different is replaced with --force, once the new one is verified', async () => {
    await writeFile(target, 'potato');
    expect((await get('--force')).exitCode).toBe(0);
    expect(BYTES.equals(await readFile(target))).toBe(true);
    expect(await readdir(here.path)).toEqual([NAME]);
  });

  test('and different stays when --force does not come to an end', async () => {
    await writeFile(target, 'potato');
    const slow = await startServe([file, '--limit-rate', '2M']);
    const args = ['get', `127.0.0.1:${slow.port}`, '--force', '--json', '--retry-for', '0'];
    const cut = startCli(args, { cwd: here.path });
    await cut.event('progress', ({ bytes }) => Number(bytes) > 0);
    slow.cli.kill('SIGKILL');
    expect((await cut.finished).exitCode).toBe(4);
    expect((await readFile(target)).toString()).toBe('potato');
  });
});

describe('--expect', () => {
  test.each([SHA256, SHA256.toUpperCase()])('%s lets the right file through', async (digest) => {
    expect((await get('-o', '/dev/null', '--expect', digest)).exitCode).toBe(0);
  });

  const wrong = 'ab'.repeat(32);

  test('refuses another file before its payload: FAIL with both digests', async () => {
    const { exitCode, stderr } = await get('--expect', wrong);
    expect(exitCode).toBe(6);
    expect(stderr).toMatch(/^FAIL {5}served\.bin: SHA-256 mismatch: .* \(DIGEST_MISMATCH\)$/m);
    expect(stderr).toContain(`expected ${wrong}\nfound    ${SHA256}\n`);
    expect(stderr).not.toContain('connecting again');
    expect(await readdir(here.path)).toEqual([]);
  });

  test('and says the same to programs, and to the server', async () => {
    const { cli, port } = await startServe([file]);
    await cli.event('digest');
    const { exitCode, stdout } = await runCli(['get', `127.0.0.1:${port}`, '--json', '--expect', wrong], {
      cwd: here.path,
    });
    expect(exitCode).toBe(6);
    const result = lastEvent(stdout);
    expect(result).toMatchObject({ event: 'result', result: 'FAIL', code: 'DIGEST_MISMATCH' });
    expect(result).toMatchObject({ sha256: SHA256, expected: wrong, name: NAME });
    expect(result.bytesOnWire).toBeLessThan(16 * 1024);
    expect(await cli.event('client.finished')).toMatchObject({ verified: false, code: 'DIGEST_MISMATCH' });
  });

  test('is the reason, rather than that another file is there already', async () => {
    await writeFile(join(here.path, NAME), 'potato');
    expect((await get('--expect', wrong)).exitCode).toBe(6);
    expect((await readFile(join(here.path, NAME))).toString()).toBe('potato');
  });
});

describe('--wait', () => {
  test('keeps trying until the server is up', async () => {
    const port = await freePort();
    const waiting = startCli(['get', `127.0.0.1:${port}`, '-o', '/dev/null', '--wait', '60', '--json']);
    expect(await waiting.event('waiting')).toMatchObject({ address: `127.0.0.1:${port}` });
    const serve = startCli(['serve', file, '-q', '--host', '127.0.0.1', '--port', String(port)]);
    expect((await waiting.finished).exitCode).toBe(0);
    serve.kill('SIGINT');
  });

  test('gives up when its time is over', async () => {
    const { exitCode, stderr } = await runCli(['get', `127.0.0.1:${await freePort()}`, '--wait', '0.2']);
    expect(exitCode).toBe(4);
    expect(stderr).toMatch(/^wirebound: connection refused/m);
  });
});

describe('a get that is stopped', () => {
  test.each([
    ['SIGINT', 130, 'INTERRUPTED'],
    ['SIGTERM', 143, 'TERMINATED'],
    ['SIGHUP', 143, 'TERMINATED'],
  ] as const)(
    'by %s says where the partial file is, and the same command goes on',
    async (signal, exitCode, code) => {
      const slow = await startServe([file, '--limit-rate', '4M']);
      const args = ['get', `127.0.0.1:${slow.port}`, '--json'];
      const stopped = startCli(args, { cwd: here.path });
      await stopped.event('progress', ({ bytes }) => Number(bytes) > 1024 * 1024);
      stopped.kill(signal);
      expect((await stopped.finished).exitCode).toBe(exitCode);
      const partial = `${join(here.path, NAME)}.wirebound`;
      expect(await stopped.event('result')).toMatchObject({ result: 'FAIL', code, partial });
      expect(await readdir(here.path)).toEqual([`${NAME}.wirebound`]);
      const told = await slow.cli.event('client.finished');
      expect(told).toMatchObject({ verified: false, code });
      const again = await get('--json');
      expect(again.exitCode).toBe(0);
      expect(lastEvent(again.stdout).bytesOnWire).toBeLessThan(BYTES.length - 512 * 1024);
      expect(BYTES.equals(await readFile(join(here.path, NAME)))).toBe(true);
      expect(await readdir(here.path)).toEqual([NAME]);
    },
  );

  test('tells people how to go on', async () => {
    const slow = await startServe([file, '--limit-rate', '4M']);
    const stopped = startCli(['get', `127.0.0.1:${slow.port}`], { cwd: here.path });
    await slow.cli.event('client.progress', ({ bytes }) => Number(bytes) > 1024 * 1024);
    stopped.kill('SIGINT');
    const { exitCode, stderr } = await stopped.finished;
    expect(exitCode).toBe(130);
    expect(stderr).toMatch(/^FAIL {5}served\.bin: stopped by Ctrl\+C \(SIGINT\) \(INTERRUPTED\)$/m);
    expect(stderr).toContain(
      `partial  ${join(here.path, NAME)}.wirebound; the same command goes on from there`,
    );
  });

  test('twice in a row still leaves nothing under the real name', async () => {
    const slow = await startServe([file, '--limit-rate', '4M']);
    const stopped = startCli(['get', `127.0.0.1:${slow.port}`, '--json'], { cwd: here.path });
    await stopped.event('progress', ({ bytes }) => Number(bytes) > 0);
    stopped.kill('SIGINT');
    stopped.kill('SIGINT');
    expect((await stopped.finished).exitCode).toBe(130);
    expect(existsSync(join(here.path, NAME))).toBe(false);
  });
});

describe('what get --json prints', () => {
  test('one object a line: manifest, progress, result', async () => {
    const slow = await startServe([file, '--limit-rate', '8M', '--codec', 'lz4']);
    const cli = startCli(['get', `127.0.0.1:${slow.port}`, '-o', 'out.bin', '--json'], { cwd: here.path });
    const { exitCode, stdout, stderr } = await cli.finished;
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    const events = stdout
      .toString()
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    const path = join(here.path, 'out.bin');
    expect(events[0]).toEqual({
      event: 'manifest',
      address: `127.0.0.1:${slow.port}`,
      name: NAME,
      size: BYTES.length,
      chunks: 33,
      chunkSize: 256 * 1024,
      codecs: ['lz4'],
      path,
    });
    expect(events.find(({ event }) => event === 'progress')).toEqual({
      event: 'progress',
      phase: expect.stringMatching(/^(checking|receiving|flushing)$/),
      bytes: expect.any(Number),
      size: BYTES.length,
    });
    expect(events.at(-1)).toMatchObject({
      event: 'result',
      result: 'PASS',
      sha256: SHA256,
      bytes: BYTES.length,
      seconds: expect.any(Number),
      name: NAME,
      path,
      alreadyComplete: false,
    });
  });

  test('a run that never starts is one error line with code and message', async () => {
    const { exitCode, stdout, stderr } = await runCli(['get', `127.0.0.1:${await freePort()}`, '--json']);
    expect({ exitCode, stderr }).toEqual({ exitCode: 4, stderr: '' });
    expect(lastEvent(stdout)).toMatchObject({ event: 'error', code: 'CONNECTION_REFUSED' });
  });
});
