import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { content } from '../support/content.js';
import { freePort } from '../support/free-port.js';
import { writeSparseFile } from '../support/random-file.js';
import { RawClient } from '../support/raw-client.js';
import { runCli, startCli, startServe } from '../support/run-cli.js';
import { makeTempFolder } from '../support/temp-folder.js';

const MIB = 1024 * 1024;
const BYTES = content('log', 3 * MIB);
const SHA256 = createHash('sha256').update(BYTES).digest('hex');

let folder: Awaited<ReturnType<typeof makeTempFolder>>;
let file: string;
beforeAll(async () => {
  folder = await makeTempFolder();
  file = join(folder.path, 'build.log');
  await writeFile(file, BYTES);
});
afterAll(() => folder.remove());

function verify(port: number, host = '127.0.0.1') {
  return runCli(['get', host, '--port', String(port), '-o', '/dev/null', '--json']);
}

describe('what serve prints for people', () => {
  test('everything a user needs at once, each client, and the statistics at the end', async () => {
    const args = ['serve', file, '--port', '0', '--codec', 'lz4', '--chunk', '64', '--until', '2'];
    const serve = startCli(args);
    await serve.line(/^serving {2}build\.log: 3 MiB in 48 chunks of 64 KiB$/);
    await serve.line(/^source {3}(mmap|file): .+/);
    await serve.line(/^codec {4}lz4$/);
    const warning = await serve.line(/^Anyone who reaches port \d+ can fetch this file\./);
    const port = Number(/port (\d+)/.exec(warning)?.[1]);
    await serve.line(new RegExp(`^ {2}wirebound get \\S+:${port}"? +\\(.+\\)$`));
    await serve.line(new RegExp(`^SHA-256 {2}${SHA256}$`));
    for (const client of [1, 2]) {
      expect((await verify(port)).exitCode).toBe(0);
      await serve.line(new RegExp(`^client ${client} {2}\\S+ {2}connected {2}\\(wirebound/`));
      await serve.line(new RegExp(`^client ${client} {2}\\S+ {2}verified {2}3 MiB in `));
    }
    const { exitCode, stdout, stderr } = await serve.finished;
    expect(exitCode).toBe(0);
    expect(stdout.toString()).toBe('');
    expect(stderr).toMatch(/^clients {2}2 verified, 0 failed \(2 connections\)$/m);
    expect(stderr).toMatch(/^served {3}build\.log: 3 MiB in chunks of 64 KiB, .+ in all$/m);
    expect(stderr).toMatch(/^sent {5}6 MiB of file content in .+ of transfers \(.+\/s.*\)$/m);
    expect(stderr).toMatch(
      /^wire {5}.+ \(codec lz4: \d+\.\d\d times smaller, .+ saved; 96 chunks encoded, 0 raw\)$/m,
    );
    expect(stderr).toMatch(/^storage {2}.+ read/m);
    expect(stderr).toMatch(/^memory {3}.+ at most/m);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: none of them may be in a log
    expect(stderr).not.toMatch(/[\x1b\r]|NaN|undefined/);
  });

  test('nothing at all with --quiet, and the file is served all the same', async () => {
    const port = await freePort();
    const args = ['serve', file, '-q', '--host', '127.0.0.1', '-p', String(port), '--until', '1'];
    const serve = startCli(args);
    const get = await runCli(['get', `127.0.0.1:${port}`, '-o', '/dev/null', '-q', '--wait', '30']);
    expect(get).toMatchObject({ exitCode: 0, stderr: '' });
    expect(get.stdout.toString()).toBe('');
    expect(await serve.finished).toMatchObject({ exitCode: 0, stderr: '' });
  });
});

describe('what serve --json prints', () => {
  test('one object a line: listening, digest, every client, and the summary', async () => {
    const { cli, port } = await startServe([file, '--until', '1', '--codec', 'deflate', '--rehash']);
    await cli.event('digest');
    const lost = await RawClient.greet(port);
    lost.client.verdict({ verified: false, code: 'SINK_FULL', message: 'no room' });
    lost.client.socket.end();
    expect((await verify(port)).exitCode).toBe(0);
    const { exitCode, stdout, stderr } = await cli.finished;
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    for (const line of stdout.toString().trimEnd().split('\n')) JSON.parse(line);
    const of = (name: string) => cli.events.filter(({ event }) => event === name);
    expect(of('listening')).toEqual([
      {
        event: 'listening',
        name: 'build.log',
        size: BYTES.length,
        chunks: 12,
        chunkSize: 256 * 1024,
        source: expect.any(String),
        codec: 'deflate',
        port,
        addresses: [{ interface: 'lo', address: '127.0.0.1', family: 4, internal: true }],
      },
    ]);
    expect(of('digest')).toEqual([{ event: 'digest', sha256: SHA256, cached: false }]);
    expect(of('client.connected')).toHaveLength(2);
    expect(of('client.connected')[0]).toEqual({
      event: 'client.connected',
      client: 1,
      address: expect.stringMatching(/^127\.0\.0\.1:\d+$/),
      agent: 'test/1',
    });
    expect(of('client.finished')).toContainEqual(
      expect.objectContaining({ client: 2, verified: true, bytes: BYTES.length }),
    );
    expect(of('client.finished')).toContainEqual(
      expect.objectContaining({ client: 1, verified: false, code: 'SINK_FULL', message: 'no room' }),
    );
    expect(of('summary')).toEqual([
      expect.objectContaining({
        verified: 1,
        failed: 1,
        connections: 2,
        size: BYTES.length,
        chunkSize: 256 * 1024,
        sha256: SHA256,
        bytesSent: BYTES.length,
        bytesOnWire: expect.any(Number),
        chunksEncoded: 12,
        chunksRaw: 0,
        bytesFromStorage: expect.any(Number),
        peakMemory: expect.any(Number),
      }),
    ]);
    expect(cli.events.at(-1)?.event).toBe('summary');
  });

  test('a failure is one error line with a code and a message', async () => {
    const { exitCode, stdout, stderr } = await runCli(['serve', join(folder.path, 'nope'), '--json']);
    expect({ exitCode, stderr }).toEqual({ exitCode: 3, stderr: '' });
    expect(JSON.parse(stdout.toString())).toMatchObject({
      event: 'error',
      code: 'SOURCE_NOT_FOUND',
      message: expect.stringContaining('nope'),
    });
  });
});

describe('the first pass over a file', () => {
  test('is told as it goes, in numbers that grow', async () => {
    const big = join(folder.path, 'big.bin');
    await writeSparseFile(big, 20 * 2 ** 30);
    const { cli } = await startServe([big]);
    const first = await cli.event('hashing', ({ bytes }) => Number(bytes) > 0);
    const later = await cli.event('hashing', ({ bytes }) => Number(bytes) > Number(first.bytes));
    expect(later).toEqual({ event: 'hashing', bytes: expect.any(Number), size: 20 * 2 ** 30 });
    cli.kill('SIGINT');
    expect((await cli.finished).exitCode).toBe(0);
    await rm(big);
  });
});

describe('the flags of serve', () => {
  test('--chunk takes everything from 64 KiB to 16 MiB', async () => {
    const large = process.execPath;
    for (const chunk of ['64', '16M']) {
      const { cli, port } = await startServe([large, '--chunk', chunk, '--until', '1']);
      expect((await verify(port)).exitCode).toBe(0);
      await cli.finished;
      const { size, chunks, chunkSize } = await cli.event('listening');
      expect(chunks).toBe(Math.ceil(Number(size) / Number(chunkSize)));
      expect(chunkSize).toBe(chunk === '64' ? 64 * 1024 : 16 * MIB);
    }
  });

  test('--until counts runs: one that reconnects after its verdict is not counted twice', async () => {
    const { cli, port } = await startServe([file, '--until', '2']);
    const run = 'ab'.repeat(16);
    for (let time = 0; time < 2; time++) {
      const { client, manifest } = await RawClient.greet(port, { run });
      client.get(Math.ceil((manifest.entries[0]?.size ?? 0) / manifest.chunkSize), 0);
      await client.next('end');
      client.verdict({ verified: true });
      client.socket.end();
      await client.gone;
    }
    expect((await verify(port)).exitCode).toBe(0);
    expect((await cli.finished).exitCode).toBe(0);
    expect(await cli.event('summary')).toMatchObject({ verified: 2, failed: 0, connections: 3 });
  });

  test('--until that is not reached ends with exit code 1', async () => {
    const { cli, port } = await startServe([file, '--until', '2']);
    expect((await verify(port)).exitCode).toBe(0);
    cli.kill('SIGINT');
    expect((await cli.finished).exitCode).toBe(1);
    expect(await cli.event('error')).toMatchObject({
      code: 'UNTIL_NOT_REACHED',
      message: expect.stringContaining('1 of the 2'),
    });
  });

  test('--max-clients tells one client too many that the server is busy, and serves it later', async () => {
    const { port } = await startServe([file, '--max-clients', '1']);
    const { client } = await RawClient.greet(port);
    const refused = await verify(port);
    expect(refused.exitCode).toBe(4);
    expect(JSON.parse(refused.stdout.toString())).toMatchObject({
      code: 'BUSY',
      message: expect.stringContaining('already serves one client'),
    });
    const again = await RawClient.greet(port, { run: client.run });
    again.client.reset();
    client.reset();
    await Promise.all([client.gone, again.client.gone]);
    const waited = await runCli(['get', `127.0.0.1:${port}`, '-o', '/dev/null', '--wait', '30']);
    expect(waited.exitCode).toBe(0);
  });

  test('--limit-rate holds for all clients together', async () => {
    const rate = 2 * MIB;
    const flags = ['--codec', 'none', '--chunk', '64', '--limit-rate', '2M'];
    const { cli, port } = await startServe([file, '--until', '2', ...flags]);
    const results = await Promise.all([verify(port), verify(port)]);
    expect(results.map(({ exitCode }) => exitCode)).toEqual([0, 0]);
    await cli.finished;
    const { activeSeconds, bytesSent } = await cli.event('summary');
    expect(bytesSent).toBe(2 * BYTES.length);
    // All but what the first write of each may take at once has to wait its turn.
    expect(activeSeconds).toBeGreaterThan((Number(bytesSent) - 4 * 64 * 1024) / rate);
  });

  test('--name is what clients call the file', async () => {
    const { port } = await startServe([file, '--name', 'other name.log', '--until', '1']);
    const result = await runCli(['get', `127.0.0.1:${port}`], { cwd: folder.path });
    expect(result.exitCode).toBe(0);
    expect(BYTES.equals(await readFile(join(folder.path, 'other name.log')))).toBe(true);
  });

  test('without --name a path is announced as its last part', async () => {
    const roundabout = `${folder.path}/./x/../build.log`;
    await writeFile(join(folder.path, 'x'), '');
    const { cli } = await startServe([roundabout]);
    expect(await cli.event('listening')).toMatchObject({ name: 'build.log' });
  });

  test('a server without --host is reached over both families, one with --host over that address alone', async () => {
    const both = startCli(['serve', file, '--json', '--port', '0']);
    const everywhere = Number((await both.event('listening')).port);
    for (const host of ['127.0.0.1', '::1', 'localhost', '[::1]']) {
      expect((await verify(everywhere, host)).exitCode).toBe(0);
    }
    const six = startCli(['serve', file, '--json', '--port', '0', '--host', '::1']);
    const { port, addresses } = await six.event('listening');
    expect(addresses).toEqual([expect.objectContaining({ address: '::1', family: 6 })]);
    expect((await verify(Number(port), '::1')).exitCode).toBe(0);
    expect((await verify(Number(port), '127.0.0.1')).exitCode).toBe(4);
  });

  test.each(['mmap', 'file', 'memory'])('--source %s is used, and said', async (source) => {
    const { cli, port } = await startServe([file, '--source', source, '--until', '1']);
    expect((await cli.event('listening')).source).toContain(source);
    expect(
      JSON.parse((await verify(port)).stdout.toString().trimEnd().split('\n').at(-1) ?? ''),
    ).toMatchObject({ result: 'PASS', sha256: SHA256 });
  });

  test('a digest that is known from before is there at once, unless --rehash or another chunk size ask for it anew', async () => {
    // A file that changed lately is not remembered: this one is older than the test.
    const old = process.execPath;
    const sha256 = createHash('sha256').update(readFileSync(old)).digest('hex');
    const cached: unknown[] = [];
    for (const flags of [[], [], ['--rehash'], ['--chunk', '1M']]) {
      const { cli } = await startServe([old, ...flags]);
      const digest = await cli.event('digest');
      expect(digest.sha256).toBe(sha256);
      cached.push(digest.cached);
      cli.kill('SIGINT');
      expect((await cli.finished).exitCode).toBe(0);
    }
    expect(cached).toEqual([false, true, false, false]);
    const people = startCli(['serve', old, '--host', '127.0.0.1', '--port', '0']);
    await people.line(new RegExp(`^SHA-256 {2}${sha256} {2}\\(from cache\\)$`));
  });
});

describe('standard input', () => {
  test('is read to its end, then served under its name', async () => {
    const { cli, port } = await startServe(['-', '--name', 'piped.log', '--until', '1'], { input: BYTES });
    expect(cli.events[0]?.event).toBe('reading');
    expect(await cli.event('listening')).toMatchObject({ name: 'piped.log', size: BYTES.length });
    const { stdout } = await verify(port);
    expect(JSON.parse(stdout.toString().trimEnd().split('\n').at(-1) ?? '')).toMatchObject({
      result: 'PASS',
      sha256: SHA256,
      name: 'piped.log',
    });
  });

  test('may be empty', async () => {
    const { cli, port } = await startServe(['-', '--until', '1'], { input: new Uint8Array(0) });
    expect((await verify(port)).exitCode).toBe(0);
    expect((await cli.finished).exitCode).toBe(0);
  });

  test('is refused once it is larger than --memory', async () => {
    const { exitCode, stderr } = await runCli(['serve', '-', '--memory', '1M', '--port', '0'], {
      input: BYTES,
    });
    expect(exitCode).toBe(3);
    expect(stderr).toMatch(/^wirebound: standard input is larger than the 1048576 bytes/m);
    expect(stderr).toContain('--memory');
  });
});
