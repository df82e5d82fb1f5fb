import { formatBytes } from '#dist/core/units.js';
import type { LinkRun } from '../support/link-run.js';
import { markdownTable } from '../support/table.js';

/** What `bench:link` measured. */
export interface LinkResult {
  readonly runs: readonly LinkRun[];
}

/** A line per link, content and number of clients; a time, a share on the wire and a fairness per codec. */
export function linkTable({ runs }: LinkResult): string {
  const codecs = [...new Set(runs.map(({ codec }) => codec))];
  const groups = new Map<string, LinkRun[]>();
  for (const run of runs) {
    const key = [run.link, run.content, run.clients].join();
    groups.set(key, [...(groups.get(key) ?? []), run]);
  }
  const header = ['link', 'file', 'content', 'clients'];
  for (const codec of codecs) header.push(`${codec}: s`, 'on the wire', 'fairness');
  if (codecs.includes('auto')) header.push('auto to the better');
  const rows = [...groups.values()].map((group) => {
    const [{ link, size, content, clients }] = group as [LinkRun];
    const of = (codec: string) => group.find((run) => run.codec === codec);
    const cells = codecs.flatMap((codec) => {
      const run = of(codec);
      if (run === undefined) return ['-', '-', '-'];
      return [
        run.seconds.toFixed(2),
        run.wireShare.toFixed(3),
        clients === 1 ? '-' : run.fairness.toFixed(3),
      ];
    });
    const better = Math.min(...group.filter(({ codec }) => codec !== 'auto').map(({ seconds }) => seconds));
    const auto = of('auto');
    const last = codecs.includes('auto')
      ? [auto === undefined ? '-' : (auto.seconds / better).toFixed(2)]
      : [];
    return [link, formatBytes(size), content, `${clients}`, ...cells, ...last];
  });
  return markdownTable(header, rows);
}
