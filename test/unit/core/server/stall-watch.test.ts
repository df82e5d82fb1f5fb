import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { WireBoundError } from '#dist/core/errors.js';
import { SERVE_LIMITS } from '#dist/core/server/serve-limits.js';
import { StallWatch } from '#dist/core/server/stall-watch.js';

const LIMITS = {
  ...SERVE_LIMITS,
  helloTimeoutMs: 10_000,
  idleTimeoutMs: 30_000,
  stallTimeoutMs: 60_000,
  stallBytes: 1000,
};

let position: number;
let stalled: WireBoundError[];
let watch: StallWatch;

beforeEach(() => {
  jest.useFakeTimers();
  position = 0;
  stalled = [];
  watch = new StallWatch(
    LIMITS,
    () => position,
    (error) => void stalled.push(error),
  );
});
afterEach(() => {
  watch.stop();
  jest.useRealTimers();
});

describe('StallWatch', () => {
  test('a client that does not say hello in time is stalled, also one that drips bytes', () => {
    for (let second = 0; second < 10; second++) {
      watch.heard();
      pass(1);
    }
    expect(stalled).toEqual([]);
    pass(1);
    expect(stalled).toEqual([expect.objectContaining({ code: 'IDLE', message: 'no hello in 10 s' })]);
  });

  test('a client that goes silent while nothing is sent to it is stalled, once', () => {
    watch.greeted();
    pass(30);
    expect(stalled).toEqual([]);
    pass(100);
    expect(stalled).toEqual([expect.objectContaining({ code: 'IDLE', message: 'nothing heard in 30 s' })]);
  });

  test('keepalives are enough to stay', () => {
    watch.greeted();
    for (let minute = 0; minute < 10; minute++) {
      watch.heard();
      pass(29);
    }
    expect(stalled).toEqual([]);
  });

  test('a client that does not take its bytes is stalled, however much it says', () => {
    watch.greeted();
    watch.pending = true;
    for (let second = 0; second < 61; second++) {
      position += 10;
      watch.heard();
      pass(1);
    }
    expect(stalled).toEqual([
      expect.objectContaining({
        code: 'IDLE',
        message: expect.stringMatching(/^less than .* taken in 60 s$/),
      }),
    ]);
  });

  test('a slow client that moves steadily is left alone', () => {
    watch.greeted();
    watch.pending = true;
    for (let minute = 0; minute < 60; minute++) {
      pass(59);
      position += 1000;
      pass(1);
    }
    expect(stalled).toEqual([]);
  });

  test('only the time counts in which bytes wait for the client', () => {
    watch.greeted();
    for (let round = 0; round < 6; round++) {
      watch.pending = true;
      pass(9);
      watch.pending = false;
      for (let each = 0; each < 20; each++) {
        watch.heard();
        pass(10);
      }
    }
    expect(stalled).toEqual([]);
    watch.pending = true;
    pass(8);
    expect(stalled.length).toBe(1);
  });

  test('while bytes wait silence is no reason: the network may be slow both ways', () => {
    watch.greeted();
    watch.pending = true;
    for (let minute = 0; minute < 5; minute++) {
      pass(50);
      position += 1000;
    }
    expect(stalled).toEqual([]);
  });

  test('after a stop it says nothing and leaves no timer', () => {
    watch.stop();
    pass(1000);
    expect(stalled).toEqual([]);
    expect(jest.getTimerCount()).toBe(0);
  });
});

function pass(seconds: number): void {
  jest.advanceTimersByTime(seconds * 1000);
}
