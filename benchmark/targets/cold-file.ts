import { cacheChain, startServer } from '../subjects/wirebound.js';
import { coldObstacle, makeCold } from '../support/cold-file.js';
import { startIdle } from '../support/idle-process.js';
import { LoopDelayWatch } from '../support/loop-delay-watch.js';
import { MemoryLimit } from '../support/memory-limit.js';
import { makeServedFile, type ServedFile } from '../support/served-file.js';
import { listThreads } from '../support/threads.js';
import { runClients, yielding } from '../support/transfer-run.js';
import type { Workspace } from '../support/workspace.js';
import type { Figure, Skipped, Target } from './target.js';

const CLIENTS = 8;
/** A quarter of the file fits; a server does not start in less than the least. */
const LIMITED_SHARE = 0.25;
const LEAST_MEMORY = 192 * 2 ** 20;

interface ColdRun {
  readonly what: string;
  readonly rehash: boolean;
  readonly limit?: MemoryLimit | undefined;
}

/** Target 9: the server's main thread never waits for a disk. */
export const coldFile: Target = {
  number: 9,
  title: 'a cold file, eight clients at once',
  async measure({ workspace, size, tell }) {
    const obstacle = coldObstacle();
    if (obstacle !== undefined) return [{ what: 'a cold file', skipped: obstacle }];
    const file = await makeServedFile(workspace.disk, 'random', size);
    await cacheChain(workspace, file);
    const figures: (Figure | Skipped)[] = [];
    const limit = MemoryLimit.create(Math.max(LEAST_MEMORY, size * LIMITED_SHARE));
    const runs: readonly ColdRun[] = [
      { what: 'cold, chain known', rehash: false },
      { what: 'cold, first serve', rehash: true },
      { what: 'larger than memory, chain known', rehash: false, limit },
      { what: 'larger than memory, first serve', rehash: true, limit },
    ];
    for (const run of runs) {
      if ('limit' in run && limit === undefined) {
        figures.push({ what: run.what, skipped: 'control groups need root' });
      } else {
        await makeCold(file.path);
        figures.push(...(await serveCold(workspace, file, run)));
        tell(`${run.what}: done`);
      }
    }
    limit?.remove();
    return figures;
  },
};

async function serveCold(workspace: Workspace, file: ServedFile, run: ColdRun): Promise<readonly Figure[]> {
  const watch = new LoopDelayWatch(workspace.disk, 'server');
  const idleWatch = new LoopDelayWatch(workspace.disk, 'idle');
  const server = await startServer(workspace, file, {
    rehash: run.rehash,
    under: run.limit?.under ?? [],
    env: watch.env,
  });
  const idle = await startIdle(idleWatch);
  const { pid } = server.command;
  const faults = () => listThreads(pid).find(({ id }) => id === pid)?.majorFaults ?? Number.NaN;
  const faultsBefore = faults();
  watch.start(pid);
  idleWatch.start(idle.pid);
  const { seconds } = await runClients(workspace, file, server, {
    clients: CLIENTS,
    output: yielding,
  });
  const [delay, idleDelay] = [await watch.stop(pid), await idleWatch.stop(idle.pid)];
  const value = faults() - faultsBefore;
  await idle.end();
  const { bytesFromStorage } = await server.stop();
  const reads = `${(bytesFromStorage / file.size).toFixed(2)} times the file read, ${seconds.toFixed(1)} s`;
  const beside = `at most ${delay.max.toFixed(1)} ms; an idle process beside it had ${idleDelay.p999.toFixed(1)} ms`;
  return [
    { what: `${run.what}: major faults of the main thread`, value, bound: 0, note: reads },
    {
      what: `${run.what}: event-loop delay, 99.9th percentile`,
      value: delay.p999,
      bound: 20,
      unit: 'ms',
      note: beside,
    },
  ];
}
