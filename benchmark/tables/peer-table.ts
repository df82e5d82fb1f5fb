import { formatRate } from '#dist/core/units.js';
import { type Rounds, ratio } from '../support/pairs.js';
import { median } from '../support/statistics.js';
import { markdownTable } from '../support/table.js';

/** What `bench:peers` measured. */
export interface PeerResult {
  readonly size: number;
  readonly skipped: readonly string[];
  readonly rounds: Rounds;
}

/** Everyone beside WireBound: median seconds, rate, and seconds as a multiple of WireBound's in the same round. */
export function summarizePeers({ size, rounds }: PeerResult): string {
  const rows = Object.entries(rounds).map(([name, seconds]) => [
    name,
    median(seconds).toFixed(2),
    formatRate(size / median(seconds)),
    ratio(rounds, name, 'wirebound get').toFixed(2),
  ]);
  return markdownTable(['what', 'seconds', 'rate', 'times WireBound'], rows);
}
