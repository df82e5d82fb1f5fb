/** The middle value, or the mean of the two in the middle. Throws on an empty list. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const [upper, lower] = [sorted[middle], sorted[sorted.length % 2 === 0 ? middle - 1 : middle]];
  if (upper === undefined || lower === undefined) throw new Error('the median of nothing');
  return (upper + lower) / 2;
}

export function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

/**
 * Jain's fairness index of the rates of n flows: 1 when all are equal, 1/n when one has everything
 * (R. Jain, D. Chiu, W. Hawe, DEC-TR-301, 1984).
 */
export function fairness(rates: readonly number[]): number {
  return sum(rates) ** 2 / (rates.length * sum(rates.map((rate) => rate ** 2)));
}
