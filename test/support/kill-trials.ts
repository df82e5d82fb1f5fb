import { readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { expect } from '@jest/globals';
import type { CliProcess } from './cli-process.js';
import { content } from './content.js';
import { type CliOptions, runCli, startCli } from './run-cli.js';
import { makeTempFolder } from './temp-folder.js';
import { openTestServer } from './test-server.js';
import { ThrottlingProxy } from './throttling-proxy.js';

/** The ring of a client, bytes: as much as may be on the way to the disk when it is killed. */
const RING = 8 * 2 ** 20;

/** One thread for the file system: otherwise `when=` of strace counts each thread by itself. */
export const ONE_THREAD = { UV_THREADPOOL_SIZE: '1' };

/** A command line that kills its program at the `nth` of these system calls, of any one thread or of the main one. */
export function killedAt(calls: string, nth: number, of: 'any' | 'main' = 'any'): readonly string[] {
  const words = strace(calls, `signal=KILL:when=${nth}`);
  return of === 'any' ? words : words.filter((word) => word !== '-f');
}

/** A command line whose program meets something at these system calls: `error=EIO:when=3`, `delay_enter=1000`... */
export function strace(calls: string, injection: string, path?: string): readonly string[] {
  const only = path === undefined ? [] : ['-P', path];
  return [
    'strace',
    '-f',
    '-qq',
    '-o',
    '/dev/null',
    ...only,
    '-e',
    `trace=${calls}`,
    '-e',
    `inject=${calls}:${injection}`,
  ];
}

/** A file that is to be received, and from where. */
export interface Served {
  readonly port: number;
  readonly bytes: Uint8Array;
  readonly chunkSize: number;
}

/**
 * Serves 64 chunks out of a folder that has room for what is received, one every `delayMs`, so that each is a write of its own
 * where it arrives.
 */
export async function serveChunkByChunk(delayMs: number) {
  const chunkSize = 64 * 1024;
  const bytes = content('random', 64 * chunkSize);
  const folder = await makeTempFolder();
  const source = join(folder.path, 'source.bin');
  await writeFile(source, bytes);
  const server = await openTestServer(source, { chunkSize });
  const proxy = await ThrottlingProxy.open(server.port, () => ({
    toClient: { sliceBytes: chunkSize + 44, delayMs },
  }));
  const served: Served = { port: proxy.port, bytes, chunkSize };
  return {
    folder: folder.path,
    source,
    served,
    async close() {
      await proxy.close();
      await server.stop();
      await folder.remove();
    },
  };
}

/**
 * Starts a `get` that `options` (or `interrupt`) brings to a sudden end, then looks at the folder, runs the same line again and requires that the
 * file is there, identical, alone, and that at most the ring was fetched twice. Returns whether the first run was killed.
 */
export async function expectResumed(
  served: Served,
  output: string,
  options: CliOptions,
  interrupt: (first: CliProcess) => Promise<void> = async () => {},
  flags: readonly string[] = [],
): Promise<{ readonly killed: boolean; readonly kept: number }> {
  const { port, bytes, chunkSize } = served;
  const args = ['get', '--json', `127.0.0.1:${port}`, '-o', output, ...flags];
  const first = startCli(args, options);
  await interrupt(first);
  const { exitCode } = await first.finished;
  await expectNothingWrong(output, bytes);
  const inPartial = await wholeChunksOf(`${output}.wirebound`, bytes, chunkSize);
  const second = await runCli(args);
  const events = second.stdout
    .toString()
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  const result = events.at(-1);
  expect({ ...result, stderr: second.stderr }).toMatchObject({ event: 'result', result: 'PASS', stderr: '' });
  const published = result.alreadyComplete === true;
  const kept: number = events.find(({ event }) => event === 'kept')?.bytes ?? 0;
  // It goes on exactly behind the last whole chunk that is on the disk and right.
  if (!published) expect(kept).toBe(inPartial);
  expect(result.bytesOnWire).toBeLessThan(bytes.length - kept + RING);
  expect(Buffer.compare(await readFile(output), bytes)).toBe(0);
  const left = (await readdir(dirname(output))).filter((name) => name.startsWith(basename(output)));
  expect(left).toEqual([basename(output)]);
  await rm(output);
  return { killed: exitCode !== 0, kept };
}

/** Whatever happened: a file under the final name is the whole and right one. */
async function expectNothingWrong(output: string, bytes: Uint8Array): Promise<void> {
  const there = await readFile(output).catch(() => undefined);
  if (there !== undefined) expect(Buffer.compare(there, bytes)).toBe(0);
}

/** Bytes in whole chunks at the front of a partial file that are right. */
async function wholeChunksOf(partial: string, bytes: Uint8Array, chunkSize: number): Promise<number> {
  const there = await readFile(partial).catch(() => Buffer.alloc(0));
  for (let at = 0; at < bytes.length; at += chunkSize) {
    const chunk = bytes.subarray(at, at + chunkSize);
    if (Buffer.compare(there.subarray(at, at + chunk.length), chunk) !== 0) return at;
  }
  return bytes.length;
}

/** Resolves once the partial of `output` holds at least `bytes` bytes, or `cli` has ended. */
export async function untilReceived(cli: CliProcess, output: string, bytes: number): Promise<void> {
  let ended = false;
  void cli.finished.then(() => {
    ended = true;
  });
  while (!ended) {
    const { size } = await stat(`${output}.wirebound`).catch(() => ({ size: -1 }));
    if (size >= bytes) return;
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}

/** Kills the process once the partial of `output` holds at least `bytes` bytes, or lets it end. */
export async function killOnceReceived(cli: CliProcess, output: string, bytes: number): Promise<void> {
  await untilReceived(cli, output, bytes);
  cli.kill('SIGKILL');
}
