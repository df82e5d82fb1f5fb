import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import {
  expectResumed,
  killedAt,
  killOnceReceived,
  ONE_THREAD,
  type Served,
  serveChunkByChunk,
} from '../support/kill-trials.js';
import { Random } from '../support/random.js';
import { startCli, startServe } from '../support/run-cli.js';

const CHUNK = 64 * 1024;
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

let ground: Awaited<ReturnType<typeof serveChunkByChunk>>;
let folder: string;
let source: string;
let served: Served;

beforeAll(async () => {
  ground = await serveChunkByChunk(10);
  ({ folder, source, served } = ground);
});
afterAll(() => ground.close());

test('a get that is killed at each of its writes, flushes, links, unlinks and renames continues', async () => {
  const output = join(folder, 'each');
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
  const output = join(folder, 'random');
  const random = new Random(SEED);
  for (let trial = 0; trial < 50; trial++) {
    const at = random.below(served.bytes.length);
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
  expect(writes).toBeGreaterThan(served.bytes.length / CHUNK);
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
  const output = join(folder, `server-${nth}`);
  const get = startCli(['get', '-q', `127.0.0.1:${port}`, '-o', output, '--wait', '30']);
  const killed = (await cli.finished).exitCode !== 0;
  const again = ['serve', '-q', ...args, '--host', '127.0.0.1', '--port', String(port)];
  const second = killed ? startCli(again) : undefined;
  expect(await get.finished).toMatchObject({ exitCode: 0, stderr: '' });
  expect(Buffer.compare(await readFile(output), served.bytes)).toBe(0);
  await rm(output);
  second?.kill('SIGKILL');
  await second?.finished;
  return killed;
}
