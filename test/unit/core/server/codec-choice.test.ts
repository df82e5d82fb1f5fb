import { describe, expect, test } from '@jest/globals';
import { CodecChoice } from '#dist/core/server/codec-choice.js';
import type { Forecast, PayloadStore } from '#dist/core/server/payload-store.js';

const KIB = 1024;
const MIB = 1024 * KIB;
const CHUNK = 256 * KIB;

describe('a link that nothing is known of', () => {
  test('is measured by a small batch and larger ones, until 2 MiB have told nothing', () => {
    const choice = createChoice();
    const reaches: number[] = [];
    while (choice.measuring) {
      reaches.push(choice.reach / KIB);
      choice.sentRaw(choice.reach);
    }
    expect(reaches).toEqual([256, 1024, 1024]);
    expect(choice.reach).toBe(Number.POSITIVE_INFINITY);
  });

  test('is known as soon as one batch took long enough to tell', () => {
    const choice = createChoice();
    measure(choice, { seconds: 0.0005 });
    expect([choice.measuring, choice.current.linkRate]).toEqual([true, undefined]);
    measure(choice, { seconds: 0.03 });
    expect(choice.measuring).toBe(false);
    expect(choice.current.linkRate).toBeCloseTo(CHUNK / 0.03);
  });

  test('is measured from the report before the batch on: what the server waited for does not count', () => {
    const choice = createChoice();
    measure(choice, { seconds: 0.0005, pause: 2 });
    measure(choice, { seconds: 0.0005, pause: 2 });
    expect(choice.current.linkRate).toBeUndefined();
  });
});

test('a codec that nobody has tried is tried where the link turns out to be slow', () => {
  const choice = createChoice({ untried: true, encodeRate: undefined });
  expect(choice.choose(0, CHUNK)).toBe(0);
  measure(choice, { seconds: 0.03 });
  expect(choice.choose(1, CHUNK)).toBe(1);
});

test('with a named codec nothing is measured', () => {
  const choice = new CodecChoice({ names: ['lz4'], automatic: false }, ['lz4'], storeOf({}));
  expect([choice.measuring, choice.reach, choice.reportDue(10 * MIB), choice.choose(0, CHUNK)]).toEqual([
    false,
    Number.POSITIVE_INFINITY,
    false,
    1,
  ]);
});

function createChoice(forecast: Partial<Forecast> = {}): CodecChoice {
  return new CodecChoice({ names: ['lz4'], automatic: true }, ['lz4'], storeOf(forecast));
}

function storeOf(changed: Partial<Forecast>): PayloadStore {
  const forecast = { length: CHUNK / 12, ready: false, encodeRate: 4e8, untried: false, ...changed };
  return { forecast: () => forecast } as unknown as PayloadStore;
}

let received = 0;
let elapsedUs = 0;

/** One raw chunk between two reports; `pause`: seconds before the first. */
function measure(choice: CodecChoice, { seconds, pause = 0 }: { seconds: number; pause?: number }): void {
  const report = () =>
    choice.report(
      { received, elapsedUs, starvedUs: elapsedUs, waitedUs: 0, digestRate: 1.2e6, decodeRate: 0 },
      false,
    );
  elapsedUs += pause * 1e6;
  received += 12;
  report();
  received += CHUNK;
  elapsedUs += seconds * 1e6;
  choice.measures(received);
  choice.sentRaw(CHUNK);
  report();
}
