import { expect, test } from '@jest/globals';
import { KernelWitness } from '#dist/core/server/kernel-witness.js';

/** What a kernel notes from one look to the next. */
interface Step {
  readonly ms: number;
  /** Of these milliseconds the path held bytes up for so many. */
  readonly limitedMs: number;
  readonly kilobytes: number;
  /** Nothing was being sent. */
  readonly skipped?: boolean;
}

const LIMITED = { ms: 16, limitedMs: 16, kilobytes: 500 };
const PAUSE = { ms: 40, limitedMs: 0, kilobytes: 0 };
const FREE = { ms: 16, limitedMs: 4, kilobytes: 4000 };
const STARTED = { ms: 0, limitedMs: 0, kilobytes: 0 };

/** What the witness says at the end. */
function hear(steps: readonly Step[]): ReturnType<KernelWitness['hear']> {
  const witness = new KernelWitness();
  const record = { atUs: 7e6, acknowledged: 5e6, unsent: 0, pathLimitedUs: 3e6 };
  let said = witness.hear({ ...record });
  for (const { ms, limitedMs, kilobytes, skipped = false } of steps) {
    record.atUs += ms * 1000;
    record.pathLimitedUs += limitedMs * 1000;
    record.acknowledged += kilobytes * 1000;
    if (skipped) witness.passOver({ ...record });
    else said = witness.hear({ ...record });
  }
  return said;
}

test.each<[string, Step[], number]>([
  ['that always holds bytes up', [LIMITED, LIMITED, LIMITED], 31.25e6],
  ['that holds bytes up for most of the time', [LIMITED, { ...LIMITED, limitedMs: 8 }, LIMITED], 37.5e6],
  ['whatever passed before the window', [FREE, ...Array<Step>(8).fill(LIMITED)], 31.25e6],
  [
    'whatever time passes while nothing is sent',
    [LIMITED, { ...PAUSE, skipped: true }, LIMITED, LIMITED],
    31.25e6,
  ],
])('the rate of a path is what it carries while it holds bytes up: one %s', (_, steps, rate) => {
  expect(hear(steps)).toMatchObject({ rate: expect.closeTo(rate, 0) });
});

test.each<[string, Step[], 'unclear' | undefined]>([
  ['there is one record only', [], 'unclear'],
  ['ticks are too coarse for so short a time', [LIMITED, LIMITED], 'unclear'],
  ['hardly anything was sent', Array<Step>(3).fill({ ...LIMITED, kilobytes: 10 }), 'unclear'],
  ['a finding has just been made', [LIMITED, LIMITED, LIMITED, LIMITED], 'unclear'],
  ['the path carries all there is', [FREE, FREE, FREE], undefined],
  ['nothing was sent for a while', [LIMITED, PAUSE, LIMITED], undefined],
])('nothing is found where %s', (_, steps, said) => {
  expect(hear([STARTED, ...steps])).toBe(said);
});

test('a path that was free for long is not believed to be the limit at once', () => {
  const free = Array<Step>(200).fill(FREE); // 3.2 s
  const limited = (count: number) => Array<Step>(count).fill(LIMITED);
  expect(hear([...free, ...limited(10)])).toBe(undefined);
  expect(hear([...free, ...limited(13)])).toMatchObject({ seconds: expect.closeTo(0.24, 2) });
  expect(hear([...free, ...limited(13), ...limited(3)])).toMatchObject({ seconds: expect.closeTo(0.048) });
});
