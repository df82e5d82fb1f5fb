import { randomBytes } from './codec-samples.js';

/** Byte strings that a property is tried with. */
const RUNS = 150;

/**
 * Tries `property` with byte strings of many kinds, 1 to 4096 bytes long: from fast-check, which shrinks what fails,
 * where that is installed, otherwise from a generator of our own. Rejects when the property does.
 */
export async function forAnyBytes(property: (bytes: Uint8Array) => Promise<void>): Promise<void> {
  const check = await import('fast-check').catch(() => undefined);
  if (check === undefined) {
    for (let seed = 1; seed <= RUNS; seed++) await property(made(seed));
    return;
  }
  const length = { minLength: 1, maxLength: 4096, size: 'max' } as const;
  const letters = check.array(check.constantFrom(...Buffer.from('ab \n')), length);
  const runs = check.array(check.tuple(check.nat(255), check.integer({ min: 1, max: 600 })), {
    minLength: 1,
    maxLength: 6,
  });
  const bytes = check.oneof(
    check.uint8Array(length),
    letters.map((codes) => Uint8Array.from(codes)),
    runs.map((pairs) => Uint8Array.from(pairs.flatMap(([value, run]) => Array<number>(run).fill(value)))),
  );
  await check.assert(check.asyncProperty(bytes, property), { numRuns: RUNS });
}

/** Random bytes, few letters, or runs; the same each time for the same seed. */
function made(seed: number): Uint8Array {
  const random = randomBytes(1 + ((seed * 7919) % 4096), seed);
  if (seed % 3 === 0) return random;
  if (seed % 3 === 1) return random.map((value) => 97 + (value & 3));
  return random.map((_, index) => random[index >> 5] as number);
}
