import { isMet } from '../targets/target.js';
import type { TargetResult } from './target-table.js';

/** The targets that a reader who has one minute wants to know about. */
const TARGETS: readonly number[] = [1, 2, 3, 5];

/** A line each for the most telling figures. */
export function headlines({ targets }: TargetResult): string {
  return targets
    .filter(({ number }) => TARGETS.includes(number))
    .flatMap(({ title, figures }) =>
      figures.flatMap((figure) =>
        'skipped' in figure
          ? []
          : [
              `- ${title}: ${figure.value.toFixed(2)} as ${figure.what}${isMet(figure) === false ? ' (missed)' : ''}`,
            ],
      ),
    )
    .join('\n');
}
