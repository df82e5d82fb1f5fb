import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { writeContentFile } from './random-file.js';
import { runCli, startServe } from './run-cli.js';

const CHUNK = 256 * 1024;
/** Both larger than a client's ring, so that only chunks make the difference. */
const SIZES = { small: 64 * CHUNK, large: 320 * CHUNK } as const;
const COUNT_BYTES = fileURLToPath(new URL('count-bytes.cjs', import.meta.url));

const CHUNKS_BETWEEN = (SIZES.large - SIZES.small) / CHUNK;

/** What one more chunk costs each side. */
export interface Cost {
  readonly server: number;
  readonly client: number;
}

/** How a process is made to leave a report behind. */
interface Probe {
  readonly under?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/** Bytes that JavaScript on the main threads allocates in typed arrays, and copies between them. */
export async function bytesPerChunk(
  folder: string,
): Promise<{ readonly allocated: Cost; readonly copied: Cost }> {
  const probe = (report: string): Probe => ({
    env: { NODE_OPTIONS: `--require "${COUNT_BYTES}"`, WIREBOUND_BYTE_COUNT: report },
  });
  const counts = (report: string) => JSON.parse(report) as { allocated: number; copied: number };
  const reports = await runBothSizes(folder, probe);
  return {
    allocated: perChunk(reports, (report) => counts(report).allocated),
    copied: perChunk(reports, (report) => counts(report).copied),
  };
}

/** Calls by name that one more chunk costs. */
export type Calls = Readonly<Record<string, number>>;

/** System calls of all threads, as strace counts them. */
export async function callsPerChunk(
  folder: string,
): Promise<{ readonly server: Calls; readonly client: Calls }> {
  const strace = ['strace', '-f', '-qq', '-c', '-U', 'calls,name'];
  const reports = await runBothSizes(folder, (report) => ({ under: [...strace, '-o', report] }));
  const calls = (side: 'server' | 'client'): Calls => {
    const [small, large] = [countCalls(reports.small[side]), countCalls(reports.large[side])];
    return Object.fromEntries(
      [...large].map(([name, count]) => [name, (count - (small.get(name) ?? 0)) / CHUNKS_BETWEEN]),
    );
  };
  return { server: calls('server'), client: calls('client') };
}

/** Names and numbers from the table of `strace -c`; one name is `total`. */
function countCalls(report: string): ReadonlyMap<string, number> {
  return new Map(
    report.split('\n').flatMap((line) => {
      const [count = '', name = ''] = line.trim().split(/\s+/);
      return /^\d+$/.test(count) ? [[name, Number(count)] as const] : [];
    }),
  );
}

type Reports = Readonly<Record<keyof typeof SIZES, { readonly server: string; readonly client: string }>>;

async function runBothSizes(folder: string, probe: (report: string) => Probe): Promise<Reports> {
  return { small: await transfer(folder, 'small', probe), large: await transfer(folder, 'large', probe) };
}

/** Serves a file whose chain is not known, to one client that keeps it; resolves to what the probes report. */
async function transfer(
  folder: string,
  size: keyof typeof SIZES,
  probe: (report: string) => Probe,
): Promise<{ server: string; client: string }> {
  const [file, server, client] = [size, 'server-report', 'client-report'].map((name) =>
    join(folder, name),
  ) as [string, string, string];
  await writeContentFile(file, 'random', SIZES[size]);
  const { cli, port } = await startServe([file, '--codec', 'none', '--until', '1'], probe(server));
  await cli.event('digest'); // its own reading and hashing is over
  const output = join(folder, 'received');
  const { exitCode, stderr } = await runCli(['get', `127.0.0.1:${port}`, '-f', '-o', output], probe(client));
  const served = await cli.finished;
  if (exitCode !== 0 || served.exitCode !== 0) throw new Error(`not verified: ${stderr}${served.stderr}`);
  return { server: await readFile(server, 'utf8'), client: await readFile(client, 'utf8') };
}

function perChunk(reports: Reports, figure: (report: string) => number): Cost {
  const cost = (side: 'server' | 'client') =>
    (figure(reports.large[side]) - figure(reports.small[side])) / CHUNKS_BETWEEN;
  return { server: cost('server'), client: cost('client') };
}
