import { expect, test } from '@jest/globals';
import { Residency, STRIPE_SIZE } from '#dist/plugins/sources/mapping/residency.js';

const STRIPES = 10;
const SIZE = STRIPES * STRIPE_SIZE - 5;

/** A residency whose fetches are recorded by stripe, and a clock that is set by hand. */
function recorded(
  outcome: (stripe: number) => boolean | Promise<boolean> = () => true,
  capacity = Number.POSITIVE_INFINITY,
) {
  const clock = { ms: 0 };
  const fetched: number[] = [];
  const residency = new Residency(
    SIZE,
    capacity,
    async (offset) => {
      fetched.push(offset / STRIPE_SIZE);
      return outcome(offset / STRIPE_SIZE);
    },
    () => clock.ms,
  );
  return { residency, fetched, clock };
}

test('a stripe is fetched once for all who wait for it, and two more ahead of them', async () => {
  const { residency, fetched } = recorded();
  const waits = Array.from({ length: 8 }, (_, index) => residency.ensure(index * 4096, 4096));
  expect(await Promise.all(waits)).toEqual(Array(8).fill(true));
  expect(fetched).toEqual([0, 1, 2]);
});

test('what was fetched is good for two seconds', async () => {
  const { residency, fetched, clock } = recorded();
  await residency.ensure(0, 4096);
  clock.ms = 2000;
  expect(residency.check(0, 4096)).toBe(true);
  clock.ms = 2001;
  expect(residency.check(0, 4096)).toBe(false);
  await residency.ensure(0, 4096);
  expect(fetched).toEqual([0, 1, 2, 0, 1, 2]);
});

test('where memory is scarce nothing is fetched ahead, and what was fetched may be gone once as much was fetched after it', async () => {
  const { residency, fetched } = recorded(() => true, 4 * STRIPE_SIZE);
  await residency.ensure(0, 5 * STRIPE_SIZE);
  expect(residency.check(0, 4096)).toBe(true);
  await residency.ensure(5 * STRIPE_SIZE, 4096);
  expect(fetched).toEqual([0, 1, 2, 3, 4, 5]);
  expect(residency.check(0, 4096)).toBe(false);
  expect(residency.check(STRIPE_SIZE, 4096)).toBe(true);
  await residency.ensure(0, 4096);
  expect(residency.check(0, 4096)).toBe(true);
});

test('whoever reads in order finds the next stripes there and starts those behind them', async () => {
  const { residency, fetched } = recorded();
  await residency.ensure(0, 4096);
  for (let stripe = 1; stripe < STRIPES; stripe += 1) {
    expect(residency.check(stripe * STRIPE_SIZE, 4096)).toBe(true);
    await residency.settle();
  }
  expect(fetched).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
});

test('a span over three stripes waits for all of them and fails with any of them', async () => {
  const { residency, fetched } = recorded((stripe) => stripe !== 2);
  expect(await residency.ensure(STRIPE_SIZE - 1, STRIPE_SIZE + 2)).toBe(false);
  expect(fetched.slice(0, 3)).toEqual([0, 1, 2]);
  expect(residency.check(0, 4096)).toBe(true);
  expect(residency.check(2 * STRIPE_SIZE, 4096)).toBe(false);
});

test('fetching ahead never has more than four stripes on their way', async () => {
  const gate = deferred();
  const { residency, fetched } = recorded(() => gate.promise);
  const waits = [0, 4, 7].map((stripe) => residency.ensure(stripe * STRIPE_SIZE, 1));
  expect(fetched).toEqual([0, 1, 2, 4, 7]);
  gate.resolve(true);
  await Promise.all(waits);
});

test('reads that cover a stripe in any order make it fresh, reads that leave a hole do not', () => {
  const { residency, fetched } = recorded(() => new Promise(() => {}));
  const half = STRIPE_SIZE / 2;
  residency.noteRead(half, half);
  residency.noteRead(0, half - 4096);
  residency.noteRead(0, half - 4096);
  expect(residency.check(0, 1)).toBe(false);
  residency.noteRead(half - 8192, 8192);
  expect(residency.check(0, STRIPE_SIZE)).toBe(true);
  expect(fetched).toEqual([1, 2]);
});

test('one read may cover several stripes, and the last one ends with the file', () => {
  const { residency } = recorded();
  residency.noteRead(7 * STRIPE_SIZE - 4096, SIZE - 7 * STRIPE_SIZE + 4096);
  expect([6, 7, 8, 9].map((stripe) => residency.check(stripe * STRIPE_SIZE, 1))).toEqual([
    false,
    true,
    true,
    true,
  ]);
});

function deferred() {
  let resolve: (value: boolean) => void = () => {};
  const promise = new Promise<boolean>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}
