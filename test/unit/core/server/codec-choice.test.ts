import { setTimeout } from 'node:timers/promises';
import { describe, expect, test } from '@jest/globals';
import { CodecChoice } from '#dist/core/server/codec-choice.js';
import { Crowd } from '#dist/core/server/crowd.js';
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

describe('to a crowd that lacks processors', () => {
  test('a chunk that shrinks well goes encoded, though nothing is known of the link, and nothing is measured', () => {
    const choice = createChoice({}, starvedCrowd());
    expect([choice.measuring, choice.reach, choice.choose(0, CHUNK)]).toEqual([
      false,
      Number.POSITIVE_INFINITY,
      1,
    ]);
    expect(choice.current).toEqual({ codec: 'lz4', crowded: true });
  });

  test.each([
    ['one that shrinks a little goes raw', { length: CHUNK / 3 }, 0],
    ['a codec that nobody has tried is tried', { length: CHUNK / 2, untried: true }, 1],
  ])('%s', (_, forecast, codec) => {
    const choice = createChoice(forecast, starvedCrowd());
    expect(choice.choose(0, CHUNK)).toBe(codec);
    expect(choice.current).toEqual(codec === 0 ? { codec: 'none' } : { codec: 'lz4', crowded: true });
  });

  test('nothing goes encoded to a client that takes more than twice as long to decode as to hash', () => {
    const choice = createChoice({}, starvedCrowd());
    const report = { received: 0, elapsedUs: 0, starvedUs: 0, busyUs: 0, digestRate: 1e6 };
    choice.report({ ...report, decodeRate: 4e5 }, false);
    expect(choice.choose(0, CHUNK)).toBe(0);
    choice.report({ ...report, decodeRate: 6e5 }, false);
    expect(choice.choose(1, CHUNK)).toBe(1);
  });

  test('a client belongs while it is sent chunks', () => {
    const crowd = starvedCrowd(3);
    const choice = createChoice({}, crowd);
    expect(choice.choose(0, CHUNK)).toBe(0);
    choice.sent(CHUNK);
    expect(choice.choose(1, CHUNK)).toBe(1);
    choice.leave();
    expect(choice.choose(2, CHUNK)).toBe(0);
  });
});

/** Clients of a server that never has a processor. */
function starvedCrowd(members = 4): Crowd {
  let now = 0;
  const crowd = new Crowd(
    () => now,
    () => {
      now += 60;
      return now;
    },
  );
  for (let member = 0; member < members; member++) crowd.join({});
  return crowd;
}

function createChoice(forecast: Partial<Forecast> = {}, crowd = new Crowd()): CodecChoice {
  const policy = { names: ['lz4'], automatic: true };
  return new CodecChoice(policy, ['lz4'], storeOf(forecast), () => undefined, crowd);
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
