import { isMet } from '../targets/target.js';
import type { TargetResult } from './target-table.js';

/** The targets that a reader who has one minute wants to know about. */
const TARGETS: readonly number[] = [1, 2, 3, 5];

/** A line each for the most telling figures. */
export function headlines({ targets }: TargetResult): string {
  return targets
    .filter(({ number }) => TARGETS.includes(number))
    .flatMap(({ title, figures }) =>
      figures.flatMap((figure) => {
        if ('skipped' in figure) return [];
        const missed = isMet(figure) === false ? ' (asked for better)' : '';
        return [`- ${title}; ${figure.what}: **${figure.value.toFixed(2)}**${missed}`];
      }),
    )
    .join('\n');
}
