/**
 * `npm run bench:peers`: the same file through what a user would pick instead, in turn, in one run; ratios to
 * WireBound, beside the limits of the machine.
 */
import { join } from 'node:path';
import { startCompetitors } from './subjects/competitors.js';
import { timeLoopback, timeMemoryCopy } from './subjects/limits.js';
import { timeOpenssl } from './subjects/openssl.js';
import { cacheChain, startServer, timeGet } from './subjects/wirebound.js';
import { describeMachine, machineLine } from './support/machine.js';
import { readOptions } from './support/options.js';
import { alternate, type Contenders } from './support/pairs.js';
import { backgroundLoad } from './support/processor-time.js';
import { writeResult } from './support/results.js';
import { runBenchmark } from './support/run-benchmark.js';
import { makeServedFile } from './support/served-file.js';
import { withWorkspace } from './support/workspace.js';
import { summarizePeers } from './tables/peer-table.js';

const options = readOptions('npm run bench:peers', {
  size: { default: '1G', help: 'size of the file' },
  rounds: { default: '5', help: 'rounds that count; one more warms up' },
  disk: { default: '', help: 'folder for the file to serve' },
});

await runBenchmark(() =>
  withWorkspace(async (workspace) => {
    const load = await backgroundLoad();
    console.log(machineLine(describeMachine()));
    const size = options.size('size');
    const file = await makeServedFile(workspace.disk, 'random', size);
    await cacheChain(workspace, file);
    const server = await startServer(workspace, file);
    const competitors = await startCompetitors(workspace, file);
    for (const reason of competitors.skipped) console.log(`skipped: ${reason}`);

    const received = join(workspace.memory, 'received');
    const kept = (run: () => Promise<number>) => async () => {
      const seconds = await run();
      await workspace.clearMemory();
      return seconds;
    };
    const contenders: Contenders = {
      'wirebound get': kept(() => timeGet(workspace, server.port, file, { output: received })),
      ...Object.fromEntries(
        Object.entries(competitors.contenders).map(([name, run]) => [name, kept(() => run(received))]),
      ),
      'wirebound get, to nothing': () => timeGet(workspace, server.port, file),
      'limit: SHA-256, one thread': () => timeOpenssl(file.path),
      'limit: memory copy': async () => timeMemoryCopy(size),
      'limit: loopback TCP': () => timeLoopback(size),
    };
    const rounds = await alternate(contenders, options.count('rounds'), console.log);
    await server.stop();
    await competitors.stop();

    const body = { size, skipped: competitors.skipped, rounds };
    console.log(`\n${summarizePeers(body)}`);
    writeResult('peers', { backgroundLoad: load, options: options.raw }, body);
  }, options.text('disk') || undefined),
);
