import { describe, expect, test } from '@jest/globals';
import { alternate, ratio } from '../../../benchmark/support/pairs.js';
import { fairness, median } from '../../../benchmark/support/statistics.js';

test('the median is the middle, or the mean of the two in the middle', () => {
  expect(median([3, 1, 2])).toBe(2);
  expect(median([4, 1, 2, 3])).toBe(2.5);
  expect(() => median([])).toThrow();
});

test("Jain's index is 1 for equal rates and 1/n when one has everything", () => {
  expect(fairness([5, 5, 5, 5])).toBe(1);
  expect(fairness([8, 0, 0, 0])).toBe(0.25);
});

describe('alternating rounds', () => {
  test('run everyone in turn, and the first round does not count', async () => {
    const order: string[] = [];
    const contender =
      (name: string, ...seconds: number[]) =>
      () => {
        order.push(name);
        return Promise.resolve(seconds.shift() ?? Number.NaN);
      };
    const rounds = await alternate({ a: contender('a', 100, 2, 4), b: contender('b', 1, 1, 4) }, 2);
    expect(order.join('')).toBe('ababab');
    expect(rounds).toEqual({ a: [2, 4], b: [1, 4] });
  });

  test('are compared round by round', () => {
    expect(ratio({ a: [2, 30, 4], b: [1, 10, 4] }, 'a', 'b')).toBe(2);
  });
});
