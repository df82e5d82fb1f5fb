import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { RateLimit } from '#dist/core/server/rate-limit.js';
import { isPending } from '../../../support/gate.js';

const MIB = 1024 * 1024;
const never = new AbortController().signal;

// The clock only: what waits, waits for the real one.
beforeEach(() => {
  jest.useFakeTimers({
    doNotFake: ['setTimeout', 'clearTimeout', 'setImmediate', 'nextTick', 'queueMicrotask', 'setInterval'],
  });
});
afterEach(() => {
  jest.useRealTimers();
});

describe('RateLimit', () => {
  test('without a limit nobody waits and batches are as large as wanted', async () => {
    const rate = new RateLimit(undefined);
    await rate.take(Number.MAX_SAFE_INTEGER, never);
    await rate.take(1, never);
    expect(rate.batchSize(MIB)).toBe(MIB);
  });

  test.each([
    [1, 4096],
    [80 * 1024, 4096],
    [2_000_000, 100_000],
    [1024 * MIB, MIB],
  ])('at %i bytes a second a batch has %i bytes: a twentieth of a second, 4 KiB at least', (limit, size) => {
    expect(new RateLimit(limit).batchSize(MIB)).toBe(size);
  });

  test('what was taken must be spent before the next one may send', async () => {
    const rate = new RateLimit(1000);
    await rate.take(60_000, never);
    const controller = new AbortController();
    const second = rate.take(1, controller.signal);
    expect(await isPending(second)).toBe(true);
    controller.abort();
    await second;
  });

  test('once it is spent nobody waits; time in which nothing was sent is not saved up', async () => {
    const rate = new RateLimit(1000);
    await rate.take(60_000, never);
    jest.advanceTimersByTime(60_000);
    await rate.take(10_000, never);
    jest.advanceTimersByTime(3_600_000);
    await rate.take(5_000, never);
    const controller = new AbortController();
    const next = rate.take(1, controller.signal);
    expect(await isPending(next)).toBe(true);
    controller.abort();
    await next;
  });

  test('who comes first is served first', async () => {
    const rate = new RateLimit(100_000);
    const order: number[] = [];
    await Promise.all([1, 2, 3, 4].map((each) => rate.take(1000, never).then(() => order.push(each))));
    expect(order).toEqual([1, 2, 3, 4]);
  });

  test('one that is to end already does not wait', async () => {
    const rate = new RateLimit(1);
    await rate.take(1000, never);
    await rate.take(1, AbortSignal.abort());
  });
});
