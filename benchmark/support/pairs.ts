import { median } from './statistics.js';

/** Named things to time, each returning seconds; one of them is what the others are compared with. */
export type Contenders = Readonly<Record<string, () => Promise<number>>>;

/** Seconds per contender and round, the first round left out. */
export type Rounds = Readonly<Record<string, readonly number[]>>;

/**
 * Runs all contenders in turn, `rounds` times and once more before that for warming up, which does not count: what
 * else goes on in the machine then meets all of them alike. `told` hears of every round.
 */
export async function alternate(
  contenders: Contenders,
  rounds: number,
  told: (line: string) => void = () => undefined,
): Promise<Rounds> {
  const seconds: Record<string, number[]> = {};
  for (let round = 0; round <= rounds; round++) {
    const line: string[] = [];
    for (const [name, run] of Object.entries(contenders)) {
      const took = await run();
      line.push(`${name} ${took.toFixed(3)} s`);
      seconds[name] ??= [];
      if (round > 0) seconds[name].push(took);
    }
    told(`${round === 0 ? 'warm-up' : `round ${round}`}: ${line.join(', ')}`);
  }
  return seconds;
}

/** The median over all rounds of what `name` took as a multiple of what `reference` took in the same round. */
export function ratio(rounds: Rounds, name: string, reference: string): number {
  const references = rounds[reference] ?? [];
  return median((rounds[name] ?? []).map((seconds, at) => seconds / (references[at] ?? Number.NaN)));
}
