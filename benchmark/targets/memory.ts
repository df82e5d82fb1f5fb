import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cacheChain, checkedResult, startGet, startServer } from '../subjects/wirebound.js';
import { startCommand } from '../support/command.js';
import { isInstalled } from '../support/installed.js';
import { MemoryWatch } from '../support/memory-watch.js';
import { makeServedFile, type ServedFile } from '../support/served-file.js';
import { waitFor } from '../support/wait-for.js';
import type { Workspace } from '../support/workspace.js';
import type { Figure, Skipped, Target } from './target.js';

const MIB = 2 ** 20;
const CHUNK = 256 * 1024;
/** What each member of the crowd gets, bytes. */
const CROWD_SIZE = 32 * MIB;
const CROWD = fileURLToPath(new URL('../subjects/crowd.ts', import.meta.url));
const LOADER = fileURLToPath(new URL('../../scripts/load-typescript.js', import.meta.url));
/** Every write takes 20 ms longer; `-D` keeps the client, not strace, as the process that was started. */
const SLOW_DISK = ['strace', '-D', '-f', '-qq', '-o', '/dev/null', '-e', 'trace=pwrite64,pwritev'];
SLOW_DISK.push('-e', 'inject=pwrite64,pwritev:delay_enter=20000');

/** Target 6: memory grows neither with clients nor with the speed of a disk. */
export const memory: Target = {
  number: 6,
  title: 'memory',
  async measure({ workspace, size, crowd }) {
    const small = await makeServedFile(workspace.disk, 'random', CROWD_SIZE);
    await cacheChain(workspace, small);
    const [one, many] = [await crowdPeak(workspace, small, 1), await crowdPeak(workspace, small, crowd)];
    const growth: Figure = {
      what: `anonymous memory of the server, ${crowd} clients at once to one`,
      value: (many - one) / MIB,
      bound: 64,
      unit: 'MiB',
      note: `${(one / MIB).toFixed(1)} and ${(many / MIB).toFixed(1)} MiB`,
    };
    const file = await makeServedFile(workspace.disk, 'random', Math.min(size, 256 * MIB));
    await cacheChain(workspace, file);
    return [growth, ...(await clientPeaks(workspace, file))];
  },
};

async function crowdPeak(workspace: Workspace, file: ServedFile, clients: number): Promise<number> {
  const server = await startServer(workspace, file);
  const watch = new MemoryWatch([server.command.pid]);
  let said = '';
  const args = [server.port, clients, Math.ceil(file.size / CHUNK), file.size].map(String);
  const crowd = startCommand([process.execPath, '--import', LOADER, CROWD, ...args], {
    onOutput: (text) => {
      said += text;
    },
  });
  const done = waitFor('the crowd', () => said.includes('done') || undefined, 600_000);
  await Promise.race([done, crowd.finished.then(() => done)]);
  const [peak] = watch.stop();
  await crowd.end('SIGKILL');
  await server.command.end('SIGKILL'); // it would wait for the crowd's verdicts
  return peak?.anonymous ?? 0;
}

async function clientPeaks(workspace: Workspace, file: ServedFile): Promise<readonly (Figure | Skipped)[]> {
  const server = await startServer(workspace, file);
  const peak = async (what: string, output: string, under: readonly string[] = []): Promise<Figure> => {
    const client = startGet(workspace, server.port, { output, under });
    const watch = new MemoryWatch([client.pid]);
    const { stdout } = await client.finished;
    checkedResult(stdout, file);
    await workspace.clearMemory();
    return { what, value: (watch.stop()[0]?.resident ?? 0) / MIB, bound: 200, unit: 'MiB' };
  };
  const output = join(workspace.memory, 'received');
  const slow = 'peak memory of a client, to a slow disk';
  const figures = [
    await peak('peak memory of a client, to nothing', '/dev/null'),
    await peak('peak memory of a client, to tmpfs', output),
    isInstalled('strace')
      ? await peak(slow, output, SLOW_DISK)
      : { what: slow, skipped: 'strace is not installed' },
  ];
  await server.stop();
  return figures;
}
