import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { GET_LIMITS } from '#dist/core/client/get-limits.js';
import { type Progress, RetryPolicy } from '#dist/core/client/retry-policy.js';
import { ERROR_CODES, type ErrorCode, WireBoundError } from '#dist/core/errors.js';

const LIMITS = { ...GET_LIMITS, leastBackoffMs: 100, mostBackoffMs: 5000, chunkFailures: 3 };
const ALL_CODES = Object.keys(ERROR_CODES) as ErrorCode[];
const error = (code: ErrorCode) => new WireBoundError(code, 'test');

beforeEach(() => {
  jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate'] });
});
afterEach(() => {
  jest.useRealTimers();
});

test('an error that is final stands at any time', () => {
  const policy = new RetryPolicy(LIMITS, 60_000, 300_000);
  const found = new WireBoundError('DIGEST_MISMATCH', 'test', { final: true });
  expect(policy.pause(found, undefined)).toBeUndefined();
  expect(policy.pause(found, { verified: 1, atMs: performance.now() })).toBeUndefined();
});

describe('before there is a manifest', () => {
  test('without --wait every error stands, but for a connection that broke before it said anything', () => {
    const retried = ALL_CODES.filter(
      (code) => new RetryPolicy(LIMITS, 0, 300_000).pause(error(code), undefined) !== undefined,
    );
    expect(retried).toEqual(['CONNECTION_LOST']);
  });

  test('a connection that always breaks before it says anything is given up soon', () => {
    const policy = new RetryPolicy(LIMITS, 0, 300_000);
    const pauses = [1, 2, 3].map(() => policy.pause(error('CONNECTION_LOST'), undefined));
    expect(pauses).toEqual([100, 100, undefined]);
  });

  test('with --wait what looks like a server that is not up yet is tried again, nothing else', () => {
    const policy = new RetryPolicy(LIMITS, 10_000, 300_000);
    const retried = ALL_CODES.filter((code) => policy.pause(error(code), undefined) !== undefined);
    expect(retried.sort()).toEqual(['BUSY', 'CONNECTION_LOST', 'CONNECTION_REFUSED', 'CONNECTION_TIMEOUT']);
  });

  test('the wait ends when its time is over, and no pause reaches beyond it', () => {
    const policy = new RetryPolicy(LIMITS, 1200, 0);
    const pauses: (number | undefined)[] = [];
    for (let attempt = 0; attempt < 4; attempt++) {
      const pauseMs = policy.pause(error('CONNECTION_REFUSED'), undefined);
      pauses.push(pauseMs);
      jest.advanceTimersByTime(pauseMs ?? 0);
    }
    expect(pauses).toEqual([500, 500, 200, undefined]);
  });
});

describe('once a transfer is under way', () => {
  let seen = new Map<number, number>();
  beforeEach(() => {
    seen = new Map();
  });

  /** Progress that came to `verified` chunks when that number was first named. */
  function at(verified: number): Progress {
    const atMs = seen.get(verified) ?? performance.now();
    seen.set(verified, atMs);
    return { verified, atMs };
  }

  test('troubles of the connection and of single chunks are tried again, nothing else', () => {
    const retried = ALL_CODES.filter(
      (code) => new RetryPolicy(LIMITS, 0, 300_000).pause(error(code), at(0)) !== undefined,
    );
    expect(retried.sort()).toEqual([
      'BUSY',
      'CODEC_FAILED',
      'CONNECTION_LOST',
      'CONNECTION_REFUSED',
      'CONNECTION_TIMEOUT',
      'DIGEST_MISMATCH',
      'HOST_NOT_FOUND',
      'IDLE',
      'NOT_WIREBOUND',
      'PROTOCOL',
    ]);
  });

  test('with --retry-for 0 there is no second attempt', () => {
    const policy = new RetryPolicy(LIMITS, 60_000, 0);
    expect(ALL_CODES.filter((code) => policy.pause(error(code), at(5)) !== undefined)).toEqual([]);
  });

  test('pauses double up to their limit, and begin anew after a verified chunk', () => {
    const policy = new RetryPolicy(LIMITS, 0, 300_000);
    const pauses = (verified: number, count: number) =>
      Array.from({ length: count }, () => policy.pause(error('CONNECTION_LOST'), at(verified)));
    expect(pauses(0, 8)).toEqual([100, 200, 400, 800, 1600, 3200, 5000, 5000]);
    expect(pauses(1, 2)).toEqual([100, 200]);
  });

  test('it gives up when nothing new has been verified for long enough', () => {
    const policy = new RetryPolicy(LIMITS, 0, 10_000);
    expect(policy.pause(error('CONNECTION_LOST'), at(7))).toBe(100);
    jest.advanceTimersByTime(9000);
    expect(policy.pause(error('CONNECTION_LOST'), at(7))).toBe(200);
    jest.advanceTimersByTime(700);
    expect(policy.pause(error('CONNECTION_LOST'), at(7))).toBeUndefined();
    expect(policy.pause(error('CONNECTION_LOST'), at(8))).toBe(100);
    jest.advanceTimersByTime(9000);
    expect(policy.pause(error('CONNECTION_LOST'), at(8))).toBe(200);
  });

  test.each<ErrorCode>(['DIGEST_MISMATCH', 'CODEC_FAILED', 'PROTOCOL'])(
    '%s: the third failure of one chunk is final',
    (code) => {
      const policy = new RetryPolicy(LIMITS, 0, 300_000);
      expect([1, 2, 3].map(() => policy.pause(error(code), at(4)))).toEqual([0, 0, undefined]);
    },
  );

  test('failures of one chunk count together, whatever kind and with lost connections between', () => {
    const policy = new RetryPolicy(LIMITS, 0, 300_000);
    const codes = ['PROTOCOL', 'CONNECTION_LOST', 'DIGEST_MISMATCH', 'IDLE', 'CODEC_FAILED'] as const;
    expect(codes.map((code) => policy.pause(error(code), at(4)))).toEqual([0, 100, 0, 200, undefined]);
  });

  test('another chunk has failures of its own', () => {
    const policy = new RetryPolicy(LIMITS, 0, 300_000);
    for (const verified of [4, 4, 5, 5, 6, 6]) {
      expect(policy.pause(error('DIGEST_MISMATCH'), at(verified))).toBe(0);
    }
    expect(policy.pause(error('DIGEST_MISMATCH'), at(6))).toBeUndefined();
  });
});
