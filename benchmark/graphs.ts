/**
 * `npm run bench:graphs`: draws the charts of the last sweep from its logs (or, where those are gone, from its
 * result file) as docs/charts/*.svg and *.png.
 */
import { readdir, readFile } from 'node:fs/promises';
import { drawChart } from './charts/draw-chart.js';
import { type ChartPoint, scalingChart } from './charts/scaling-chart.js';
import { LOGS, readResult } from './support/results.js';
import { runBenchmark } from './support/run-benchmark.js';
import { type SweepFigures, type SweepLog, summarizeSweep } from './tables/sweep-table.js';

const FOLDER = new URL('sweep/', LOGS);
const MIB = 2 ** 20;

async function readFigures(): Promise<readonly SweepFigures[]> {
  const names = await readdir(FOLDER).catch(() => []);
  const logs = await Promise.all(
    names.map(async (name) => JSON.parse(await readFile(new URL(name, FOLDER), 'utf8')) as SweepLog),
  );
  if (logs.length > 0) return summarizeSweep(logs);
  const kept = readResult<{ figures: readonly SweepFigures[] }>('sweep');
  if (kept === undefined) throw new Error('nothing to draw: run npm run bench first');
  return kept.figures;
}

function points(figures: readonly SweepFigures[], rate: (figure: SweepFigures) => number): ChartPoint[] {
  const rank = ({ content, codec, chunk, clients }: SweepFigures) =>
    (content === 'random' ? 0 : 1e6) + (codec === 'none' ? 0 : 1e5) + chunk * 10 + clients;
  return figures
    .filter(({ chain }) => chain === 'known')
    .toSorted((a, b) => rank(a) - rank(b))
    .map((figure) => ({
      content: figure.content === 'log' ? 'log text' : figure.content,
      series: `${figure.codec}, ${figure.chunk} KiB`,
      clients: figure.clients,
      rate: rate(figure) / MIB,
    }));
}

await runBenchmark(async () => {
  const figures = await readFigures();
  const together = points(figures, ({ aggregate }) => aggregate);
  const each = points(figures, ({ perClient }) => perClient);
  await drawChart('aggregate', scalingChart(together, 'All clients together, MiB/s', 'proportional'));
  await drawChart('per-client', scalingChart(each, 'Each client, MiB/s', 'constant'));
  console.log('drawn: docs/charts/{aggregate,per-client}.{svg,png}');
});
