/**
 * `npm run bench:link`: server and clients on hosts of their own (network namespaces) behind one limited link;
 * times, bytes on the wire, and how fairly several clients share it. The codecs take turns, and take turns at being the first:
 * some machines are slower for a while after others were busy. What counts are medians.
 * A file is as large as its link needs to have some seconds of work: less would measure the start of processes. Where nothing
 * but processors is the limit, runs differ most: there are more of them.
 */
import { rm } from 'node:fs/promises';
import { parseCount, parseSize } from '#dist/core/units.js';
import type { ContentKind } from '../test/support/content.js';
import { cacheChain, startServer } from './subjects/wirebound.js';
import { type LinkRun, medianRun, runLink } from './support/link-run.js';
import { describeMachine, machineLine } from './support/machine.js';
import { readOptions } from './support/options.js';
import { backgroundLoad } from './support/processor-time.js';
import { writeResult } from './support/results.js';
import { runBenchmark } from './support/run-benchmark.js';
import { makeServedFile, type ServedFile } from './support/served-file.js';
import { LINK_LIMITS, linkLimit, TestNetwork } from './support/test-network.js';
import { type Workspace, withWorkspace } from './support/workspace.js';
import { linkTable } from './tables/link-table.js';

const options = readOptions('npm run bench:link', {
  sizes: { default: '48M,1G', help: 'size of the file for each link' },
  links: { default: LINK_LIMITS.map(({ name }) => name).join(), help: 'links' },
  contents: { default: 'log,random,half', help: 'contents' },
  codecs: { default: 'none,lz4,auto', help: 'codecs; those the server does not have are left out' },
  clients: { default: '1,2,4', help: 'how many at once' },
  rounds: { default: '5,5,7', help: 'runs of each, for each link; their medians count' },
  disk: { default: '', help: 'folder for the file to serve' },
});

/** What an option says for the link in that place of the list; the last word counts for all that follow. */
function forLink(option: 'sizes' | 'rounds', place: number): string {
  const words = options.list(option);
  return words[Math.min(place, words.length - 1)] as string;
}

/** Places in a list of that length, each round from another one on, and in the other direction. */
function turns(length: number, round: number): readonly number[] {
  const places = Array.from({ length }, (_, at) => (at + round) % length);
  return round % 2 === 0 ? places : places.reverse();
}

/** The codecs that `serve` takes. */
async function availableCodecs(workspace: Workspace, file: ServedFile): Promise<readonly string[]> {
  const available: string[] = [];
  for (const codec of options.list('codecs')) {
    const server = await startServer(workspace, file, { codec }).catch(() => undefined);
    if (server === undefined) console.log(`skipped: the server has no codec ${codec}`);
    else available.push(codec);
    await server?.stop();
  }
  return available;
}

async function measure(workspace: Workspace): Promise<void> {
  const load = await backgroundLoad();
  console.log(machineLine(describeMachine()));
  const counts = options.list('clients').map(Number);
  const network = new TestNetwork(Math.max(...counts));
  const runs: LinkRun[] = [];
  let codecs: readonly string[] | undefined;
  try {
    for (const content of options.list('contents') as ContentKind[]) {
      for (const [at, name] of options.list('links').entries()) {
        const link = linkLimit(name);
        const file = await makeServedFile(
          workspace.disk,
          content,
          parseSize(forLink('sizes', at), '--sizes'),
        );
        await cacheChain(workspace, file);
        const roundCount = parseCount(forLink('rounds', at), '--rounds');
        codecs ??= await availableCodecs(workspace, file);
        for (const clients of counts) {
          const rounds: LinkRun[][] = codecs.map(() => []);
          for (let round = 0; round < roundCount; round++) {
            for (const at of turns(codecs.length, round)) {
              const codec = codecs[at] as string;
              const run = await runLink(workspace, network, file, { link, codec, clients });
              console.log(`${link.name}, ${content}, ${codec}, ${clients}: ${run.seconds.toFixed(2)} s`);
              rounds[at]?.push(run);
            }
          }
          runs.push(...rounds.map(medianRun));
        }
        await rm(file.path);
      }
    }
  } finally {
    network.close();
  }
  const body = { runs };
  console.log(`\n${linkTable(body)}`);
  writeResult('link', { backgroundLoad: load, options: options.raw }, body);
}

await runBenchmark(async () => {
  const obstacle = TestNetwork.obstacle();
  if (obstacle === undefined) await withWorkspace(measure, options.text('disk') || undefined);
  else console.log(`bench:link is left out: ${obstacle}.`);
});
