import { setTimeout } from 'node:timers/promises';
import { describe, expect, test } from '@jest/globals';
import { CodecChoice } from '#dist/core/server/codec-choice.js';
import type { Forecast, PayloadStore } from '#dist/core/server/payload-store.js';

const KIB = 1024;
const MIB = 1024 * KIB;
const CHUNK = 256 * KIB;

describe('a link that nothing is known of', () => {
  test('is measured by small batches and larger ones, until 6 MiB have told nothing; then by one more after each while', async () => {
    const choice = createChoice();
    const reaches: number[] = [];
    const first = [256, 256, 1024, 1024, 1024, 1024, 1024, 1024];
    const measureAll = () => {
      while (choice.measuring && reaches.length < 12) {
        reaches.push(choice.reach / KIB);
        choice.measures(0, choice.reach);
        choice.sent(choice.reach);
      }
    };
    measureAll();
    expect(reaches).toEqual(first);
    expect(choice.reach).toBe(Number.POSITIVE_INFINITY);
    await setTimeout(110);
    measureAll();
    expect(reaches).toEqual([...first, 1024]);
  });

  test('is known as soon as one batch took long enough to tell', () => {
    const choice = createChoice();
    measure(choice, { seconds: 0.0005 });
    expect([choice.measuring, choice.current.linkRate]).toEqual([true, undefined]);
    measure(choice, { seconds: 0.03 });
    expect(choice.measuring).toBe(false);
    expect(choice.current.linkRate).toBeCloseTo(CHUNK / 0.03);
  });

  test('is not measured by a batch whose beginning was not reported on', () => {
    const choice = createChoice();
    measure(choice, { seconds: 0.0005 });
    measure(choice, { seconds: 0.03, together: true });
    expect(choice.current.linkRate).toBeUndefined();
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

/** One raw chunk between two reports; `pause`: seconds before the first; `together`: there is but the second. */
function measure(
  choice: CodecChoice,
  { seconds, pause = 0, together = false }: { seconds: number; pause?: number; together?: boolean },
): void {
  const report = () =>
    choice.report(
      {
        received,
        elapsedUs,
        starvedUs: together ? 0 : elapsedUs,
        busyUs: 0,
        digestRate: 1.2e6,
        decodeRate: 0,
      },
      false,
    );
  elapsedUs += pause * 1e6;
  received += 12;
  if (!together) report();
  received += CHUNK;
  elapsedUs += seconds * 1e6;
  choice.measures(received - CHUNK, received);
  choice.sent(CHUNK);
  report();
}
