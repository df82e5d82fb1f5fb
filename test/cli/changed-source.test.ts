import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { appendFile, copyFile, open, readFile, rename, rm, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { content } from '../support/content.js';
import { chunkOf, RawClient } from '../support/raw-client.js';
import { runCli, startCli, startServe } from '../support/run-cli.js';
import { makeTempFolder } from '../support/temp-folder.js';

const MIB = 1024 * 1024;
const SIZE = 12 * MIB;
const CHUNK = 256 * 1024;
const CHUNKS = SIZE / CHUNK;
const OLD = content('random', SIZE, 1);
const NEW = content('random', SIZE, 2);
const WAYS = [
  { source: 'mmap', codec: 'none' },
  { source: 'mmap', codec: 'lz4' },
  { source: 'file', codec: 'none' },
  { source: 'file', codec: 'lz4' },
];

let folder: Awaited<ReturnType<typeof makeTempFolder>>;
let file: string;
let output: string;
beforeEach(async () => {
  folder = await makeTempFolder();
  file = join(folder.path, 'served.bin');
  output = join(folder.path, 'out.bin');
  await writeFile(file, OLD);
});
afterEach(() => folder.remove());

function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** A server of the file whose digest is known, and a client that stands still after its first chunk. */
async function serveWithSlowClient(flags: readonly string[]) {
  const { cli, port } = await startServe([file, ...flags]);
  await cli.event('digest');
  const { client } = await RawClient.greet(port);
  client.get(0, CHUNKS);
  await client.next('chunk');
  client.stopReading();
  return { cli, port, client };
}

/** What a client that was standing still makes of the rest: the bytes of all chunks, or the code of the error. */
async function goOn(client: RawClient): Promise<Buffer | string> {
  client.readOn();
  await client.gone;
  const last = client.frames.at(-1);
  if (last?.header.type === 'error') return JSON.parse(Buffer.from(last.content).toString()).code;
  if (last?.header.type !== 'end') return 'cut';
  const chunks = client.frames.filter(({ header }) => header.type === 'chunk');
  return Buffer.concat(chunks.map((frame) => chunkOf(frame).payload));
}

/** A client that was standing still gets all of what the file was at first. */
async function expectOldContent(client: RawClient): Promise<void> {
  client.readOn();
  await client.next('end');
  client.verdict({ verified: true });
  client.socket.end();
  const bytes = await goOn(client);
  expect(typeof bytes === 'string' ? bytes : sha256(bytes)).toBe(sha256(OLD));
}

async function get(port: number, ...flags: string[]) {
  const args = ['get', `127.0.0.1:${port}`, '-o', output, '--json', ...flags];
  const { exitCode, stdout } = await runCli(args);
  const result = JSON.parse(stdout.toString().trimEnd().split('\n').at(-1) ?? '');
  return { exitCode, code: result.code, message: String(result.message), sha256: result.sha256 };
}

async function endsWell(cli: Awaited<ReturnType<typeof startServe>>['cli']): Promise<void> {
  cli.kill('SIGINT');
  await cli.event('draining');
  cli.kill('SIGINT');
  expect([0, 130]).toContain((await cli.finished).exitCode);
  expect(cli.stderr).toBe('');
}

describe('a file that is truncated while it is served', () => {
  test.each(WAYS)(
    'ends its clients with the reason and leaves the server alive ($source, $codec)',
    async ({ source, codec }) => {
      const { cli, port, client } = await serveWithSlowClient(['--source', source, '--codec', codec]);
      await truncate(file, MIB);
      expect(['SOURCE_CHANGED', 'cut']).toContain(await goOn(client));
      const late = await get(port);
      expect(late).toMatchObject({ exitCode: 3, code: 'SOURCE_CHANGED' });
      expect(late.message).toContain(`truncated to ${MIB} of ${SIZE} bytes`);
      expect(existsSync(output)).toBe(false);
      await truncate(file, 0);
      expect((await get(port)).exitCode).toBe(3);
      await endsWell(cli);
    },
  );

  test('is told to a client in flight by the command', async () => {
    const { port } = await startServe([file, '--codec', 'none', '--limit-rate', '4M']);
    const getting = startCli(['get', `127.0.0.1:${port}`, '-o', output, '--json']);
    await getting.event('progress', ({ bytes }) => Number(bytes) > 0);
    await truncate(file, MIB);
    expect((await getting.finished).exitCode).toBe(3);
    expect(await getting.event('result')).toMatchObject({ result: 'FAIL', code: 'SOURCE_CHANGED' });
    expect(existsSync(output)).toBe(false);
  });

  test('in the middle of its first pass is refused, or served as it is then', async () => {
    await truncate(file, 2 ** 31);
    const { cli, port } = await startServe([file]);
    await cli.event('hashing');
    await truncate(file, MIB);
    const { exitCode, code, sha256: received } = await get(port);
    if (exitCode === 0) expect(received).toBe(sha256(OLD.subarray(0, MIB)));
    else expect({ exitCode, code }).toEqual({ exitCode: 3, code: 'SOURCE_CHANGED' });
    await endsWell(cli);
  });

  test('is served to the end from a copy in memory', async () => {
    const { cli, port, client } = await serveWithSlowClient(['--source', 'memory', '--codec', 'none']);
    await truncate(file, 0);
    client.readOn();
    await client.next('end');
    client.verdict({ verified: true });
    const bytes = await goOn(client);
    expect(typeof bytes === 'string' ? bytes : sha256(bytes)).toBe(sha256(OLD));
    expect(await get(port)).toMatchObject({ exitCode: 0, sha256: sha256(OLD) });
    await endsWell(cli);
  });
});

describe('a file that is edited in place while it is served', () => {
  test.each(WAYS.filter(({ source, codec }) => (source === 'mmap') === (codec === 'none')))(
    'is never verified as a mixture, and the next run gets the new content ($source, $codec)',
    async ({ source, codec }) => {
      const { cli, port } = await startServe([file, '--source', source, '--codec', codec]);
      await cli.event('digest');
      const handle = await open(file, 'r+');
      await handle.write('ZZZ', 10 * MIB + 17);
      await handle.close();
      const edited = await readFile(file);
      const first = await get(port);
      expect(first).toMatchObject({ exitCode: 3, code: 'SOURCE_CHANGED' });
      expect(first.message).toContain('served.bin was changed while it was served');
      expect(existsSync(output)).toBe(false);
      expect(await get(port)).toMatchObject({ exitCode: 0, sha256: sha256(edited) });
      expect(edited.equals(await readFile(output))).toBe(true);
      expect((await cli.event('digest', ({ sha256: digest }) => digest === sha256(edited))).cached).toBe(
        false,
      );
      await endsWell(cli);
    },
  );

  test('in the middle of the first pass is not blessed', async () => {
    const big = join(folder.path, 'big.bin');
    const size = 512 * MIB;
    await writeFile(big, '');
    await truncate(big, size);
    const { cli, port } = await startServe([big, '--codec', 'none']);
    await cli.event('hashing');
    const handle = await open(big, 'r+');
    await handle.write('start', 5);
    await handle.write('end', size - 5);
    await handle.close();
    const now = createHash('sha256');
    now.update(Buffer.from('\0\0\0\0\0start'));
    const zeros = Buffer.alloc(MIB);
    for (let left = size - 10 - 5; left > 0; left -= MIB) now.update(zeros.subarray(0, left));
    const expected = now.update(Buffer.from('end\0\0')).digest('hex');
    const args = ['get', `127.0.0.1:${port}`, '-o', '/dev/null', '--json'];
    const results: unknown[] = [];
    for (let time = 0; time < 2; time++) {
      const { exitCode, stdout } = await runCli(args);
      const result = JSON.parse(stdout.toString().trimEnd().split('\n').at(-1) ?? '');
      results.push(exitCode);
      if (exitCode === 0) expect(result.sha256).toBe(expected);
      else expect(result.code).toBe('SOURCE_CHANGED');
    }
    expect(results.at(-1)).toBe(0);
    await endsWell(cli);
  });
});

test('a file that is rewritten whole while it is served is never mixed, and the next run gets the new content', async () => {
  const { cli, port } = await startServe([file, '--codec', 'none', '--limit-rate', '8M']);
  await cli.event('digest');
  const getting = startCli(['get', `127.0.0.1:${port}`, '-o', output, '--json']);
  await getting.event('progress', ({ bytes }) => Number(bytes) > 2 * MIB);
  const handle = await open(file, 'r+');
  await handle.write(NEW, 0, NEW.length, 0);
  await handle.close();
  expect((await getting.finished).exitCode).toBe(3);
  expect(await getting.event('result')).toMatchObject({ result: 'FAIL', code: 'SOURCE_CHANGED' });
  expect(existsSync(output)).toBe(false);
  expect(await get(port)).toMatchObject({ exitCode: 0, sha256: sha256(NEW) });
  await endsWell(cli);
});

test('a file that grows is served as it was, and the growth is told once', async () => {
  const { cli, port, client } = await serveWithSlowClient(['--codec', 'none']);
  await appendFile(file, 'more');
  await expectOldContent(client);
  for (let time = 0; time < 2; time++) {
    await appendFile(file, 'more');
    expect(await get(port, '--force')).toMatchObject({ exitCode: 0, sha256: sha256(OLD) });
  }
  const warnings = cli.events.filter(({ event }) => event === 'warning');
  expect(warnings).toEqual([expect.objectContaining({ message: expect.stringContaining('served.bin') })]);
  await endsWell(cli);
});

test.each([
  [
    'replaced by a rename',
    async () => {
      await writeFile(`${file}.new`, Buffer.concat([NEW, NEW]));
      await rename(`${file}.new`, file);
    },
  ],
  ['deleted', () => rm(file)],
])('a file that is %s is served as it was to everyone, and that is told once', async (_, change) => {
  const { cli, port, client } = await serveWithSlowClient(['--codec', 'none']);
  await change();
  await expectOldContent(client);
  for (let time = 0; time < 2; time++) {
    expect(await get(port, '--force')).toMatchObject({ exitCode: 0, sha256: sha256(OLD) });
  }
  expect(cli.events.filter(({ event }) => event === 'warning')).toHaveLength(1);
  await endsWell(cli);
});

test('a file that is touched without a change is served on', async () => {
  const { cli, port } = await startServe([file, '--codec', 'none']);
  await cli.event('digest');
  await copyFile(file, `${file}.copy`);
  const handle = await open(file, 'r+');
  await handle.write(OLD, 0, MIB, 0);
  await handle.close();
  expect(await get(port)).toMatchObject({ exitCode: 0, sha256: sha256(OLD) });
  await endsWell(cli);
});
