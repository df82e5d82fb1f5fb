/**
 * `npm run bench`: clients x chunk sizes x codecs x contents on loopback, in processes of their own; a log per
 * run in benchmark/logs/sweep/, one result file, a table.
 */
import { mkdir, rm, writeFile } from 'node:fs/promises';
import type { ContentKind } from '../test/support/content.js';
import { cacheChain } from './subjects/wirebound.js';
import { describeMachine, machineLine } from './support/machine.js';
import { readOptions } from './support/options.js';
import { backgroundLoad } from './support/processor-time.js';
import { LOGS, writeResult } from './support/results.js';
import { runBenchmark } from './support/run-benchmark.js';
import { makeServedFile, type ServedFile } from './support/served-file.js';
import { runTransfer } from './support/transfer-run.js';
import { type Workspace, withWorkspace } from './support/workspace.js';
import { type SweepCell, type SweepLog, summarizeSweep, sweepTable } from './tables/sweep-table.js';

const options = readOptions('npm run bench', {
  size: { default: '1G', help: 'size of the file' },
  clients: { default: '1,2,4,8', help: 'how many at once' },
  chunks: { default: '256,1024', help: 'chunk sizes, KiB' },
  codecs: { default: 'none,lz4', help: 'codecs' },
  contents: { default: 'random,log', help: 'contents: random, log, half' },
  chains: { default: 'known,first', help: 'chain known, or hashed while serving' },
  runs: { default: '3', help: 'runs of each; medians are shown' },
  disk: { default: '', help: 'folder for the file to serve' },
});
const FOLDER = new URL('sweep/', LOGS);

function combinations(content: ContentKind): readonly SweepCell[] {
  const numbers = (name: 'clients' | 'chunks') => options.list(name).map(Number);
  return (options.list('chains') as SweepCell['chain'][]).flatMap((chain) =>
    options
      .list('codecs')
      .flatMap((codec) =>
        numbers('chunks').flatMap((chunk) =>
          numbers('clients').map((clients) => ({ content, codec, chunk, clients, chain })),
        ),
      ),
  );
}

async function runCell(workspace: Workspace, file: ServedFile, cell: SweepCell): Promise<SweepLog> {
  const run = await runTransfer(workspace, file, { ...cell, rehash: cell.chain === 'first' });
  return { ...cell, size: file.size, run };
}

await runBenchmark(() =>
  withWorkspace(async (workspace) => {
    await rm(FOLDER, { recursive: true, force: true });
    await mkdir(FOLDER, { recursive: true });
    const load = await backgroundLoad();
    const machine = describeMachine();
    console.log(machineLine(machine));
    const logs: SweepLog[] = [];
    for (const content of options.list('contents') as ContentKind[]) {
      const file = await makeServedFile(workspace.disk, content, options.size('size'));
      for (const chunk of options.list('chunks')) await cacheChain(workspace, file, Number(chunk));
      for (const cell of combinations(content)) {
        for (let run = 1; run <= options.count('runs'); run++) {
          const log = await runCell(workspace, file, cell);
          const name = `${content}-${cell.codec}-${cell.chunk}-${cell.clients}-${cell.chain}-${run}`;
          console.log(`${name}: ${log.run.seconds.toFixed(2)} s`);
          await writeFile(
            new URL(`${name}.json`, FOLDER),
            `${JSON.stringify({ machine, ...log }, null, 2)}\n`,
          );
          logs.push(log);
        }
      }
      await rm(file.path);
    }
    const figures = summarizeSweep(logs);
    for (const content of options.list('contents') as ContentKind[]) {
      console.log(`\n${content}\n${sweepTable(figures, content)}`);
    }
    writeResult('sweep', { backgroundLoad: load, options: options.raw }, { figures });
  }, options.text('disk') || undefined),
);
