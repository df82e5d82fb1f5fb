import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { expectSurvived, flipBits, fuzzHellos, fuzzServerStreams, inLanes } from '../support/fault-trials.js';
import { mixedStream } from '../support/mixed-stream.js';
import { Random } from '../support/random.js';
import { startServe } from '../support/run-cli.js';
import { makeTempFolder } from '../support/temp-folder.js';
import { clientOptions, openTestServer, type TestServer, testGet } from '../support/test-server.js';

/** Another one each day, so that the runs of a year cover more than one; a failure says it. */
const SEED = Math.floor(Date.now() / 86_400_000);
const MIB = 2 ** 20;

let folder: Awaited<ReturnType<typeof makeTempFolder>>;
let source: string;
let server: TestServer;
const { content, stream } = mixedStream();
const crashes: unknown[] = [];
const note = (error: unknown) => crashes.push(error);

beforeAll(async () => {
  process.on('unhandledRejection', note);
  folder = await makeTempFolder();
  source = join(folder.path, 'file.bin');
  await writeFile(source, content.bytes);
  server = await openTestServer(source, { codec: 'lz4' });
});
afterAll(async () => {
  process.off('unhandledRejection', note);
  await server.stop();
  await folder.remove();
  expect(crashes).toEqual([]);
});

test(`a cut at every frame boundary and a byte on either side, and at 2000 others, loses nothing (seed ${SEED})`, async () => {
  const random = new Random(SEED);
  const edges = stream.boundaries.flatMap((at) => [at - 1, at, at + 1]);
  const headers = stream.boundaries.slice(1).flatMap((at) => [at + 8, at + 43, at + 44]);
  const offsets = [
    0,
    ...edges,
    ...headers,
    ...Array.from({ length: 2000 }, () => random.below(stream.bytes.length)),
  ];
  await inLanes(offsets.length, async (index) => {
    const cutBy = index % 2 === 0 ? 'reset' : 'end';
    const toClient = { cutAfter: offsets[index] as number, cutBy } as const;
    await expectSurvived(server.port, folder.path, content.bytes, { toClient });
  });
});

test(`of 100,000 single bits that flip none is accepted (seed ${SEED})`, async () => {
  const { codecs } = await clientOptions(0);
  // Some 4 % of them hit the times in the End, and a few a spelling of LZ4 that means the same.
  expect(await flipBits(content, stream, codecs.slice(0, 1), 100_000, SEED)).toBeGreaterThan(95_000);
});

test(`10,000 broken hellos leave a server alive and as large as it was (seed ${SEED})`, async () => {
  // A small heap, so that what counts is what is kept, not what was not collected yet.
  const env = { NODE_OPTIONS: '--max-old-space-size=48 --max-semi-space-size=2' };
  const { cli, port } = await startServe([source], { env });
  await fuzzHellos(port, 500, SEED);
  const before = await anonymousMemory(cli.pid);
  await fuzzHellos(port, 10_000, SEED + 500);
  expect((await anonymousMemory(cli.pid)) - before).toBeLessThan(32 * MIB);
  expect(await testGet(port)).toMatchObject({ result: 'PASS' });
  cli.kill('SIGINT');
  const { exitCode, stdout, stderr } = await cli.finished;
  expect(exitCode).toBe(0);
  expect(stderr).toBe('');
  expect(stdout.toString()).not.toMatch(/[^\P{Cc}\n]/u);
});

test(`10,000 broken servers never make a wrong file (seed ${SEED})`, async () => {
  const parent = join(folder.path, 'parent');
  await mkdir(parent, { recursive: true }); // there when the test is tried again
  const lane = async (name: string, count: number, seed: number) => {
    const target = join(parent, name);
    await mkdir(target, { recursive: true });
    await fuzzServerStreams(content, stream.bytes, target, count, seed);
  };
  await lane('a', 500, SEED);
  const before = await anonymousMemory(process.pid);
  await Promise.all(['a', 'b', 'c', 'd'].map((name, at) => lane(name, 2_500, SEED + 500 + 2_500 * at)));
  // Heap that was not collected yet is in it; a ring kept by each of them would be 80 GiB.
  expect((await anonymousMemory(process.pid)) - before).toBeLessThan(512 * MIB);
  expect((await readdir(parent)).sort()).toEqual(['a', 'b', 'c', 'd']);
});

async function anonymousMemory(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/^RssAnon:\s+(\d+) kB/m.exec(status)?.[1]) * 1024;
}
