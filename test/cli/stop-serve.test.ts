import { createHash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { CliProcess } from '../support/cli-process.js';
import { content } from '../support/content.js';
import { chunkOf, RawClient } from '../support/raw-client.js';
import { runCli, startCli, startServe } from '../support/run-cli.js';
import { makeTempFolder } from '../support/temp-folder.js';

const BYTES = content('random', 16 * 1024 * 1024);
const SHA256 = createHash('sha256').update(BYTES).digest('hex');
const CHUNKS = BYTES.length / (256 * 1024);

let folder: Awaited<ReturnType<typeof makeTempFolder>>;
let file: string;
beforeAll(async () => {
  folder = await makeTempFolder();
  file = join(folder.path, 'served.bin');
  await writeFile(file, BYTES);
});
afterAll(() => folder.remove());

/** A client that has been sent as much as the kernel holds for it, and does not read on. */
async function startSlowClient(port: number): Promise<RawClient> {
  const { client } = await RawClient.greet(port);
  client.get(0, CHUNKS);
  await client.next('chunk');
  client.stopReading();
  return client;
}

async function finish(client: RawClient): Promise<string> {
  client.readOn();
  await client.next('end');
  client.verdict({ verified: true });
  client.socket.end();
  await client.gone;
  const hash = createHash('sha256');
  for (const frame of client.frames) if (frame.header.type === 'chunk') hash.update(chunkOf(frame).payload);
  return hash.digest('hex');
}

async function summaryOf(cli: CliProcess): Promise<unknown> {
  const { verified, failed } = await cli.event('summary');
  return { verified, failed };
}

describe('the first signal to a server', () => {
  test.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)(
    '%s lets active transfers finish, takes no new ones, and ends with exit code 0',
    async (signal) => {
      const { cli, port } = await startServe([file]);
      const slow = await startSlowClient(port);
      cli.kill(signal);
      expect(await cli.event('draining')).toMatchObject({ transfers: 1 });
      const late = await runCli(['get', `127.0.0.1:${port}`, '-o', '/dev/null']);
      expect(late.exitCode).toBe(4);
      expect(late.stderr).toMatch(/^wirebound: 127\.0\.0\.1:\d+.*the server is stopping/);
      expect(await finish(slow)).toBe(SHA256);
      expect((await cli.finished).exitCode).toBe(0);
      expect(await summaryOf(cli)).toEqual({ verified: 1, failed: 0 });
    },
  );

  test('ends an idle server at once', async () => {
    const { cli } = await startServe([file]);
    cli.kill('SIGINT');
    expect((await cli.finished).exitCode).toBe(0);
    expect(await summaryOf(cli)).toEqual({ verified: 0, failed: 0 });
  });

  test('tells people how many transfers are awaited, and that a second one stops now', async () => {
    const serve = startCli(['serve', file, '--host', '127.0.0.1', '--port', '0']);
    const port = Number(/port (\d+)/.exec(await serve.line(/port \d+/))?.[1]);
    const slow = await startSlowClient(port);
    serve.kill('SIGINT');
    await serve.line(/^stopping: no new clients, waiting for 1 transfer.*; Ctrl\+C again stops now$/);
    expect(await finish(slow)).toBe(SHA256);
    expect((await serve.finished).exitCode).toBe(0);
  });

  test('costs no client a byte, whenever it comes', async () => {
    for (const seen of [1, CHUNKS / 2, CHUNKS - 4, CHUNKS - 1, CHUNKS]) {
      const { cli, port } = await startServe([file]);
      const { client } = await RawClient.greet(port);
      client.get(0, CHUNKS);
      for (let chunk = 0; chunk < seen; chunk++) await client.next('chunk');
      cli.kill('SIGINT');
      expect(await finish(client)).toBe(SHA256);
      expect((await cli.finished).exitCode).toBe(0);
      expect(await summaryOf(cli)).toEqual({ verified: 1, failed: 0 });
    }
  });

  test('keeps the port open for a client that was there before and comes back', async () => {
    const { cli, port } = await startServe([file]);
    const slow = await startSlowClient(port);
    cli.kill('SIGINT');
    await cli.event('draining');
    slow.reset();
    await slow.gone;
    const { client } = await RawClient.greet(port, { run: slow.run });
    client.get(CHUNKS, 0, 'lost');
    await finish(client);
    expect((await cli.finished).exitCode).toBe(0);
    expect(await summaryOf(cli)).toEqual({ verified: 1, failed: 0 });
  });

  test('does not wait for clients that went away while they were being let in', async () => {
    const { cli, port } = await startServe([file]);
    for (let time = 0; time < 20; time++) {
      const client = await RawClient.connect(port);
      client.hello();
      setImmediate(() => client.reset());
      await client.gone;
    }
    const rude = await RawClient.connect(port);
    // In one segment: a Get that comes after the Manifest is a good one.
    rude.socket.cork();
    rude.hello();
    rude.get(0, 1);
    rude.socket.uncork();
    await rude.gone;
    cli.kill('SIGINT');
    // A run that counts as lost would be awaited, and the summary say that it failed.
    expect((await cli.finished).exitCode).toBe(0);
  });
});

describe('the second signal to a server', () => {
  test.each([
    ['SIGINT', 'SIGINT', 130],
    ['SIGTERM', 'SIGTERM', 143],
    ['SIGINT', 'SIGHUP', 143],
  ] as const)('after %s, %s stops it now with exit code %d', async (first, second, exitCode) => {
    const { cli, port } = await startServe([file]);
    const slow = await startSlowClient(port);
    const idle = (await RawClient.greet(port)).client;
    cli.kill(first);
    await cli.event('draining');
    cli.kill(second);
    // Whoever listens is told why.
    expect(JSON.parse(Buffer.from((await idle.next('error')).content).toString())).toMatchObject({
      code: 'STOPPED',
    });
    cli.kill(second);
    cli.kill('SIGINT');
    expect(await cli.finished).toMatchObject({ exitCode, signal: null });
    expect(await summaryOf(cli)).toEqual({ verified: 0, failed: 2 });
    slow.readOn();
    await slow.gone;
    expect(slow.frames.some(({ header }) => header.type === 'end')).toBe(false);
  });

  // At this rate the signal comes in the middle of a frame, or while the server waits for a report on the link.
  test.each(['256', '1M'])('a get that was active ends with exit code 4 (chunks of %s)', async (chunk) => {
    const { cli, port } = await startServe([file, '--limit-rate', '1M', '--chunk', chunk]);
    const output = join(folder.path, `cut-${chunk}.bin`);
    const get = startCli(['get', `127.0.0.1:${port}`, '-o', output, '--json']);
    await get.event('progress', ({ bytes }) => Number(bytes) > 0);
    cli.kill('SIGINT');
    await cli.event('draining');
    cli.kill('SIGINT');
    expect((await cli.finished).exitCode).toBe(130);
    expect((await get.finished).exitCode).toBe(4);
    expect(await get.event('result')).toMatchObject({ result: 'FAIL', code: 'STOPPED' });
    expect(cli.events.filter(({ event }) => event === 'client.finished')).toHaveLength(1);
  });
});

describe('a signal before the port is open', () => {
  test.each([
    ['SIGINT', 130, 'stopped by Ctrl+C (SIGINT)'],
    ['SIGTERM', 143, 'stopped by SIGTERM'],
    ['SIGHUP', 143, 'SIGHUP'],
  ] as const)('%s ends the process with exit code %d', async (signal, exitCode, said) => {
    const args = ['serve', '-', '--host', '127.0.0.1', '--port', '0'];
    const serve = startCli(args, { input: BYTES, keepInputOpen: true });
    await serve.line(/^reading into memory: /);
    serve.kill(signal);
    const result = await serve.finished;
    expect(result).toMatchObject({ exitCode, signal: null });
    expect(result.stderr).toMatch(/^wirebound: stopped/m);
    expect(result.stderr).toContain(said);
  });
});
