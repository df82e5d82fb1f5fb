import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { content } from '../support/content.js';
import {
  expectResumed,
  killedAt,
  killOnceReceived,
  ONE_THREAD,
  type Served,
} from '../support/kill-trials.js';
import { Random } from '../support/random.js';
import { startCli, startServe } from '../support/run-cli.js';
import { makeTempFolder } from '../support/temp-folder.js';
import { openTestServer, type TestServer } from '../support/test-server.js';
import { ThrottlingProxy } from '../support/throttling-proxy.js';

const CHUNK = 64 * 1024;
const FILE = content('random', 64 * CHUNK);
/** Everything that changes files or makes them last, with the flags that lead there. */
const CALLS: readonly (readonly [call: string, ...flags: string[]])[] = [
  ['pwrite64'],
  ['pwritev'],
  ['fsync'],
  ['ftruncate'],
  ['utimensat'],
  ['link'],
  ['unlink'],
  ['rename', '--force'],
];
const SEED = Math.floor(Date.now() / 86_400_000);

let folder: Awaited<ReturnType<typeof makeTempFolder>>;
let source: string;
let server: TestServer;
let proxy: ThrottlingProxy;
let served: Served;

beforeAll(async () => {
  folder = await makeTempFolder();
  source = join(folder.path, 'source.bin');
  await writeFile(source, FILE);
  server = await openTestServer(source, { chunkSize: CHUNK });
  proxy = await ThrottlingProxy.open(server.port, () => ({
    toClient: { sliceBytes: CHUNK + 44, delayMs: 10 },
  }));
  served = { port: proxy.port, bytes: FILE, chunkSize: CHUNK };
});
afterAll(async () => {
  await proxy.close();
  await server.stop();
  await folder.remove();
});

test('a get that is killed at each of its writes, flushes, links, unlinks and renames continues', async () => {
  const output = join(folder.path, 'each');
  const kills = new Map<string, number>();
  for (const [call, ...flags] of CALLS) {
    for (let nth = 1; ; nth++) {
      const options = { under: killedAt(call, nth), env: ONE_THREAD };
      const { killed } = await expectResumed(served, output, options, async () => {}, flags);
      if (!killed) break;
      kills.set(call, nth);
    }
  }
  // How many writes there are depends on how many chunks came while one was under way.
  expect((kills.get('pwrite64') ?? 0) + (kills.get('pwritev') ?? 0)).toBeGreaterThan(16);
  for (const call of ['fsync', 'ftruncate', 'link', 'unlink', 'rename'])
    expect(kills.get(call)).toBeGreaterThan(0);
});

test(`a get that is killed at 50 random moments continues (seed ${SEED})`, async () => {
  const output = join(folder.path, 'random');
  const random = new Random(SEED);
  for (let trial = 0; trial < 50; trial++) {
    const at = random.below(FILE.length);
    await expectResumed(served, output, {}, (cli) => killOnceReceived(cli, output, at));
  }
});

test('a server that is killed at each of its writes, and started again, costs the client nothing', async () => {
  let writes = Number.POSITIVE_INFINITY;
  let next = 1;
  // Mostly they wait for each other, or for the rate limit: several side by side.
  const lane = async () => {
    for (let nth = next++; nth < writes; nth = next++) {
      if (!(await outliveServer(nth))) writes = Math.min(writes, nth);
    }
  };
  await Promise.all(Array.from({ length: 4 }, lane));
  // Slow enough that each chunk is a write of its own.
  expect(writes).toBeGreaterThan(FILE.length / CHUNK);
});

/** Gets a file whose server is killed at its `nth` write and started again; false if it did not come to that write. */
async function outliveServer(nth: number): Promise<boolean> {
  const under = killedAt('write,writev,sendmsg,sendto', nth, 'main');
  const args = [source, '--chunk', '64'];
  const first = await startServe([...args, '--limit-rate', '2M', '--until', '1'], { under }).catch(
    () => undefined,
  );
  if (first === undefined) return true; // killed before the port was open: nobody was there yet
  const { cli, port } = first;
  const output = join(folder.path, `server-${nth}`);
  const get = startCli(['get', '-q', `127.0.0.1:${port}`, '-o', output, '--wait', '30']);
  const killed = (await cli.finished).exitCode !== 0;
  const again = ['serve', '-q', ...args, '--host', '127.0.0.1', '--port', String(port)];
  const second = killed ? startCli(again) : undefined;
  expect(await get.finished).toMatchObject({ exitCode: 0, stderr: '' });
  expect(Buffer.compare(await readFile(output), FILE)).toBe(0);
  await rm(output);
  second?.kill('SIGKILL');
  await second?.finished;
  return killed;
}
