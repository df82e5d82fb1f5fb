import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import {
  expectResumed,
  killedAt,
  killOnceReceived,
  ONE_THREAD,
  type Served,
  serveChunkByChunk,
  untilReceived,
} from '../support/kill-trials.js';
import { startCli, startServe } from '../support/run-cli.js';

const CHUNK = 64 * 1024;
const linuxTest = process.platform === 'linux' ? test : test.skip;

let ground: Awaited<ReturnType<typeof serveChunkByChunk>>;
let folder: string;
let source: string;
let served: Served;

beforeAll(async () => {
  ground = await serveChunkByChunk(3);
  ({ folder, source, served } = ground);
});
afterAll(() => ground.close());

describe('a get that is killed', () => {
  linuxTest.each([
    ['a write', 'pwrite64,pwritev', 30, []],
    ['the flush', 'fsync', 1, []],
    ['the link that publishes', 'link', 1, []],
    ['the unlink behind it', 'unlink', 1, []],
    ['the rename that replaces', 'rename', 1, ['--force']],
  ])('at %s continues behind the last whole chunk, or is complete', async (what, calls, nth, flags) => {
    const output = join(folder, what.replaceAll(' ', '-'));
    const options = { under: killedAt(calls, nth), env: ONE_THREAD };
    const { killed } = await expectResumed(served, output, options, async () => {}, flags);
    expect(killed).toBe(true);
  });

  test('in the middle, and again, continues each time and leaves one file (B37 B91)', async () => {
    const output = join(folder, 'again-and-again');
    for (const chunks of [10, 30]) {
      const first = startCli(['get', `127.0.0.1:${served.port}`, '-o', output]);
      await killOnceReceived(first, output, chunks * CHUNK);
      await first.finished;
    }
    const { kept } = await expectResumed(served, output, {}, (cli) =>
      killOnceReceived(cli, output, 50 * CHUNK),
    );
    expect(kept).toBeGreaterThanOrEqual(50 * CHUNK);
  });
});

test('a server that is killed and started again on its port costs the client nothing', async () => {
  const first = await startServe([source, '--chunk', '64', '--limit-rate', '4M']);
  const output = join(folder, 'out-of-two-servers');
  const get = startCli(['get', '--json', `127.0.0.1:${first.port}`, '-o', output]);
  await killOnceReceived(first.cli, output, CHUNK);
  await get.event('reconnecting');
  startCli(['serve', source, '--chunk', '64', '--host', '127.0.0.1', '--port', String(first.port)]);
  expect(await get.finished).toMatchObject({ exitCode: 0, stderr: '' });
  expect(Buffer.compare(await readFile(output), served.bytes)).toBe(0);
});

test('a get whose server is killed ends, without reconnecting, in one line that says how far it came (B03)', async () => {
  const first = await startServe([source, '--chunk', '64', '--limit-rate', '2M']);
  const output = join(folder, 'lost');
  const get = startCli(['get', `127.0.0.1:${first.port}`, '-o', output, '--retry-for', '0']);
  await killOnceReceived(first.cli, output, CHUNK);
  const { exitCode, stderr } = await get.finished;
  expect(exitCode).toBe(4);
  expect(stderr).toMatch(
    /FAIL {5}source.bin: the connection to 127.0.0.1:\d+ was lost.*; chunk \d+ of 64 was due, \d+ of 4194304 bytes are verified \(CONNECTION_LOST\)\n/,
  );
  expect(stderr).toMatch(/\npartial {2}\S+lost.wirebound; the same command goes on from there\n/);
  await expect(readFile(output)).rejects.toMatchObject({ code: 'ENOENT' });
});

describe('a server that is stopped (SIGSTOP), as behind a lid that was closed', () => {
  test('ends a get that does not reconnect, at its idle limit (B29)', async () => {
    const { cli, port } = await startServe([source, '--chunk', '64', '--limit-rate', '2M']);
    const output = join(folder, 'asleep');
    const get = startCli(['get', `127.0.0.1:${port}`, '-o', output, '--retry-for', '0', '--idle', '1']);
    await untilReceived(get, output, CHUNK);
    cli.kill('SIGSTOP');
    const { exitCode, stderr } = await get.finished;
    cli.kill('SIGCONT');
    expect(exitCode).toBe(4);
    expect(stderr).toMatch(/no data from 127.0.0.1:\d+ for 1 s; chunk \d+ of 64 was due, .* \(IDLE\)/);
  });

  test('and wakes again in time costs nothing', async () => {
    const { cli, port } = await startServe([source, '--chunk', '64', '--limit-rate', '3M']);
    const output = join(folder, 'woken');
    const get = startCli(['get', `127.0.0.1:${port}`, '-o', output, '--idle', '1']);
    await untilReceived(get, output, CHUNK);
    cli.kill('SIGSTOP');
    await get.line(/^connecting again at chunk/);
    cli.kill('SIGCONT');
    expect(await get.finished).toMatchObject({ exitCode: 0 });
    expect(Buffer.compare(await readFile(output), served.bytes)).toBe(0);
  });
});
