import { markdownTable } from '../support/table.js';
import { type Figure, isMet, type Skipped } from '../targets/target.js';

/** What `bench:targets` measured. */
export interface TargetResult {
  readonly size: number;
  readonly targets: readonly {
    readonly number: number;
    readonly title: string;
    readonly figures: readonly (Figure | Skipped)[];
  }[];
}

/** Every figure beside what was to be reached, and whether it was. */
export function targetTable({ targets }: TargetResult): string {
  const rows = targets.flatMap(({ number, title, figures }) =>
    figures.map((figure, at) => [at === 0 ? `${number}. ${title}` : '', ...cells(figure)]),
  );
  return markdownTable(['target', 'figure', 'value', 'asked', 'aim', 'met', 'seen'], rows);
}

function cells(figure: Figure | Skipped): readonly string[] {
  if ('skipped' in figure) return [figure.what, '-', '-', '-', 'not measured', figure.skipped];
  const { what, value, bound, boundIs, aim, unit, note = '' } = figure;
  const show = (number: number) =>
    `${number.toFixed(unit === undefined ? 3 : 1).replace(/\.0+$/, '')}${unit === undefined ? '' : ` ${unit}`}`;
  const asked = bound === undefined ? '-' : `${boundIs === 'least' ? 'at least' : 'at most'} ${show(bound)}`;
  const met = { true: 'yes', false: '**no**', undefined: '-' }[`${isMet(figure)}`] ?? '-';
  return [what, show(value), asked, aim === undefined ? '-' : show(aim), met, note];
}
