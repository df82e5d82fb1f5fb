import type { TopLevelSpec } from 'vega-lite';

/** One measured point. */
export interface ChartPoint {
  /** One panel each. */
  readonly content: string;
  /** One line each. */
  readonly series: string;
  readonly clients: number;
  readonly rate: number;
}

/** What would be ideal: twice the clients get twice as much, or every client gets what a single one gets. */
export type Ideal = 'proportional' | 'constant';

const FONT = 'DejaVu Sans';
/** Okabe and Ito's colours, which people with any colour vision can tell apart. */
const COLORS = ['#0072B2', '#56B4E9', '#D55E00', '#E69F00'];

/** Rate against the number of clients, a panel per content, with the ideal as a dashed line. */
export function scalingChart(points: readonly ChartPoint[], title: string, ideal: Ideal): TopLevelSpec {
  const contents = [...new Set(points.map(({ content }) => content))];
  const series = [...new Set(points.map(({ series }) => series))];
  const x = {
    field: 'clients',
    type: 'quantitative' as const,
    title: 'clients at once',
    axis: { values: [...new Set(points.map(({ clients }) => clients))], grid: false },
  };
  const y = { field: 'rate', type: 'quantitative' as const, title };
  const domain = [...series, 'ideal'];
  const color = {
    field: 'series',
    type: 'nominal' as const,
    title: null,
    scale: { domain, range: [...COLORS.slice(0, series.length), '#666666'] },
  };
  return {
    $schema: 'https://vega.github.io/schema/vega-lite/v6.json',
    config: {
      font: FONT,
      view: { stroke: null },
      axis: { labelFontSize: 11, titleFontSize: 12 },
      legend: { labelFontSize: 12 },
    },
    hconcat: contents.map((content) => ({
      title: content,
      width: 300,
      height: 240,
      layer: [
        {
          data: { values: idealLine(points, content, ideal) },
          mark: { type: 'line', strokeDash: [5, 4], strokeWidth: 1.5 },
          encoding: { x, y, color },
        },
        {
          data: { values: points.filter((point) => point.content === content) },
          mark: { type: 'line', point: { filled: true, size: 45 }, strokeWidth: 2 },
          encoding: { x, y, color },
        },
      ],
    })),
  };
}

/** The ideal continues the best series from its smallest number of clients on. */
function idealLine(points: readonly ChartPoint[], content: string, ideal: Ideal): ChartPoint[] {
  const own = points.filter((point) => point.content === content);
  const counts = [...new Set(own.map(({ clients }) => clients))].toSorted((a, b) => a - b);
  const [fewest = 1] = counts;
  const best = Math.max(...own.filter(({ clients }) => clients === fewest).map(({ rate }) => rate));
  return counts.map((clients) => ({
    content,
    series: 'ideal',
    clients,
    rate: ideal === 'constant' ? best : (best * clients) / fewest,
  }));
}
