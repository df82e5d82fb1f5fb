/** `npm run bench:targets`: measures each numbered target of docs/benchmarks.md and says whether it is met. */
import { describeMachine, machineLine } from './support/machine.js';
import { readOptions } from './support/options.js';
import { backgroundLoad } from './support/processor-time.js';
import { writeResult } from './support/results.js';
import { runBenchmark } from './support/run-benchmark.js';
import { withWorkspace } from './support/workspace.js';
import { targetTable } from './tables/target-table.js';
import { coldFile } from './targets/cold-file.js';
import { eightClientsToMemory } from './targets/eight-clients-to-memory.js';
import { encoding } from './targets/encoding.js';
import { fairness } from './targets/fairness.js';
import { firstServe } from './targets/first-serve.js';
import { memory } from './targets/memory.js';
import { oneClientToMemory } from './targets/one-client-to-memory.js';
import { oneClientToNothing } from './targets/one-client-to-nothing.js';
import { processorTime } from './targets/processor-time.js';
import { slowLink } from './targets/slow-link.js';
import type { Target } from './targets/target.js';

const TARGETS: readonly Target[] = [
  oneClientToNothing,
  oneClientToMemory,
  eightClientsToMemory,
  processorTime,
  firstServe,
  memory,
  fairness,
  slowLink,
  coldFile,
  encoding,
];

const options = readOptions('npm run bench:targets', {
  size: { default: '1G', help: 'size of the file; some targets take a half, a quarter or a sixteenth' },
  pairs: { default: '5', help: 'alternating pairs that count; one more warms up' },
  crowd: { default: '500', help: 'clients at once in the memory target' },
  only: { default: TARGETS.map(({ number }) => number).join(), help: 'numbers of targets' },
  disk: { default: '', help: 'folder on a disk for the file to serve' },
});

await runBenchmark(async () => {
  const load = await backgroundLoad();
  console.log(machineLine(describeMachine()));
  const targets = [];
  for (const { number, title, measure } of TARGETS) {
    if (!options.list('only').includes(`${number}`)) continue;
    console.log(`target ${number}: ${title}`);
    const figures = await withWorkspace(
      (workspace) =>
        measure({
          workspace,
          size: options.size('size'),
          pairs: options.count('pairs'),
          crowd: options.count('crowd'),
          tell: (line) => console.log(`  ${line}`),
        }),
      options.text('disk') || undefined,
    );
    targets.push({ number, title, figures });
  }
  const body = { size: options.size('size'), targets };
  console.log(`\n${targetTable(body)}`);
  writeResult('targets', { backgroundLoad: load, options: options.raw }, body);
});
