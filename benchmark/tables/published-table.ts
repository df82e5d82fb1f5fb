import { markdownTable } from '../support/table.js';
import type { SweepFigures } from './sweep-table.js';

const MB = 1e6;

/** What the original C++ program's authors published: MB/s of all clients together, by chunk size and clients. */
const PUBLISHED: readonly { readonly chunk: number; readonly clients: number; readonly rate: number }[] = [
  { chunk: 256, clients: 1, rate: 112.4 },
  { chunk: 256, clients: 4, rate: 400.8 },
  { chunk: 256, clients: 8, rate: 570.4 },
  { chunk: 1024, clients: 1, rate: 112.2 },
  { chunk: 1024, clients: 4, rate: 379 },
  { chunk: 1024, clients: 8, rate: 615.8 },
];

/** The original's published rates beside ours for the same chunk sizes and clients: random data, raw, chain known. */
export function publishedTable(figures: readonly SweepFigures[]): string {
  const rows = PUBLISHED.map(({ chunk, clients, rate }) => {
    const ours = figures.find(
      (figure) =>
        figure.chunk === chunk &&
        figure.clients === clients &&
        figure.content === 'random' &&
        figure.codec === 'none' &&
        figure.chain === 'known',
    );
    const measured = ours === undefined ? undefined : ours.aggregate / MB;
    return [
      `${chunk} KiB`,
      `${clients}`,
      rate.toFixed(1),
      measured === undefined ? '-' : measured.toFixed(1),
      measured === undefined ? '-' : (measured / rate).toFixed(1),
    ];
  });
  return markdownTable(['chunk', 'clients', 'original, MB/s', 'WireBound, MB/s', 'times'], rows);
}
