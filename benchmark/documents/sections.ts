import { existsSync } from 'node:fs';
import { formatBytes } from '#dist/core/units.js';
import type { ContentKind } from '../../test/support/content.js';
import { machineLine } from '../support/machine.js';
import { type Benchmark, type ResultHead, readResult } from '../support/results.js';
import { ROOT } from '../support/root.js';
import { headlines } from '../tables/headlines.js';
import { type LinkResult, linkTable } from '../tables/link-table.js';
import { type PeerResult, summarizePeers } from '../tables/peer-table.js';
import { publishedTable } from '../tables/published-table.js';
import { type SweepFigures, shortSweepTable, sweepTable } from '../tables/sweep-table.js';
import { type TargetResult, targetTable } from '../tables/target-table.js';

/** More of the machine than this busy with other things makes a result worth little. */
const NOTABLE_LOAD = 0.05;

const CHARTS: Readonly<Record<string, string>> = {
  aggregate: 'All clients together, against the number of clients',
  'per-client': 'Each client, against the number of clients',
};

interface SweepResult {
  readonly figures: readonly SweepFigures[];
}

const COMMANDS: Readonly<Record<Benchmark, string>> = {
  sweep: 'npm run bench',
  peers: 'npm run bench:peers',
  link: 'npm run bench:link',
  targets: 'npm run bench:targets',
};

/** Every section that a document may ask for, by its marker's name, from the results that are kept. */
export function makeSections(): Readonly<Record<string, string>> {
  const sweep = (show: (result: SweepResult) => string) => section<SweepResult>('sweep', show);
  const ofContent = (content: ContentKind) => sweep(({ figures }) => sweepTable(figures, content));
  return {
    'sweep-random': ofContent('random'),
    'sweep-log': ofContent('log'),
    'sweep-short': sweep(({ figures }) => shortSweepTable(figures)),
    published: sweep(({ figures }) => publishedTable(figures)),
    peers: section<PeerResult>(
      'peers',
      (result) => `A file of ${formatBytes(result.size)}.\n\n${summarizePeers(result)}`,
    ),
    link: section<LinkResult>('link', linkTable),
    targets: section<TargetResult>('targets', targetTable),
    charts: charts(),
    headlines: section<TargetResult>('targets', headlines),
  };
}

/** What `bench:graphs` has drawn. */
function charts(): string {
  const drawn = Object.entries(CHARTS).filter(([name]) =>
    existsSync(new URL(`docs/charts/${name}.png`, ROOT)),
  );
  if (drawn.length === 0) return 'Not drawn yet: `npm run bench:graphs` does it.';
  return drawn.map(([name, title]) => `![${title}](charts/${name}.png)`).join('\n\n');
}

function section<T>(name: Benchmark, show: (result: ResultHead & T) => string): string {
  const result = readResult<T>(name);
  if (result === undefined) return `Not measured yet: \`${COMMANDS[name]}\` does it.`;
  const busy = result.backgroundLoad > NOTABLE_LOAD;
  const load = busy
    ? ` The machine was ${Math.round(result.backgroundLoad * 100)} % busy with other things.`
    : '';
  return `${show(result)}\n\nBy \`${COMMANDS[name]}\`. ${machineLine(result.machine)}.${load}`;
}
