import type { ContractCase } from './contract-case.js';
import { sourceLending } from './source-lending.js';
import { sourceReading } from './source-reading.js';
import { sourceStanding } from './source-standing.js';
import { type MakeSource, madeFixture, type SourceFixture } from './source-under-test.js';

/**
 * What every source must keep, whatever the test runner:
 *
 *     for (const { title, run } of sourceContract(make)) test(title, run);
 *
 * `make` opens a source over the content that it is given; a fixture opens one over content that is there already.
 * Lent pages are only ever handed to a socket, as the product does it.
 */
export function sourceContract(subject: MakeSource | SourceFixture): ContractCase[] {
  const fixture = typeof subject === 'function' ? madeFixture(subject) : subject;
  return [...sourceReading(fixture), ...sourceStanding(fixture), ...sourceLending(fixture)];
}
