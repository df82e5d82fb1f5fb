import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { Verdict } from '#dist/core/framing/messages.js';
import { type Run, RunLedger } from '#dist/core/server/run-ledger.js';

const RETURN_MS = 10_000;
const PASS: Verdict = { verified: true };
const LOST: Verdict = { verified: false, code: 'CONNECTION_LOST', message: 'gone' };
const FULL: Verdict = { verified: false, code: 'SINK_FULL', message: 'full' };

let finished: [Run, Verdict][];
let ledger: RunLedger;

beforeEach(() => {
  jest.useFakeTimers();
  finished = [];
  ledger = new RunLedger(RETURN_MS, { finished: (run, verdict) => void finished.push([run, verdict]) });
});
afterEach(() => {
  jest.useRealTimers();
});

describe('RunLedger', () => {
  test('runs are numbered in the order of their arrival', () => {
    const runs = ['x', 'y', 'x', 'z'].map((id) => ledger.arrive(id, '10.0.0.1:1'));
    expect(runs.map(({ number }) => number)).toEqual([1, 2, 1, 3]);
    expect(ledger.count('active')).toBe(3);
    expect(['x', 'q'].map((id) => ledger.knows(id))).toEqual([true, false]);
  });

  test('a verdict ends a run, once', () => {
    const run = ledger.arrive('x', '10.0.0.1:1');
    ledger.conclude(run, PASS);
    ledger.conclude(run, FULL);
    expect(finished).toEqual([[run, PASS]]);
    expect([ledger.count('verified'), ledger.count('failed'), ledger.open.length]).toEqual([1, 0, 0]);
  });

  test('a run that has failed and not come back fails once', () => {
    const run = ledger.arrive('x', '10.0.0.1:1');
    ledger.conclude(run, FULL);
    ledger.conclude(run, LOST);
    expect(finished).toEqual([[run, FULL]]);
  });

  test('a run whose connection broke fails when its time to come back is over', () => {
    const run = ledger.arrive('x', '10.0.0.1:1');
    ledger.lose(run, LOST);
    expect([ledger.count('lost'), ledger.open]).toEqual([1, [run]]);
    jest.advanceTimersByTime(RETURN_MS - 1);
    expect(finished).toEqual([]);
    jest.advanceTimersByTime(1);
    expect(finished).toEqual([[run, LOST]]);
    expect([ledger.count('failed'), ledger.open.length]).toEqual([1, 0]);
  });

  test('a run that comes back in time is one run still', () => {
    const run = ledger.arrive('x', '10.0.0.1:1');
    ledger.lose(run, LOST);
    jest.advanceTimersByTime(RETURN_MS - 1);
    expect(ledger.arrive('x', '10.0.0.1:2')).toBe(run);
    expect([run.state, run.address, run.number]).toEqual(['active', '10.0.0.1:2', 1]);
    jest.advanceTimersByTime(10 * RETURN_MS);
    expect(finished).toEqual([]);
    ledger.conclude(run, PASS);
    expect(ledger.count('verified')).toBe(1);
  });

  test('a verdict in time ends the wait for a lost run', () => {
    const run = ledger.arrive('x', '10.0.0.1:1');
    ledger.lose(run, LOST);
    ledger.conclude(run, PASS);
    jest.advanceTimersByTime(10 * RETURN_MS);
    expect(finished).toEqual([[run, PASS]]);
    expect(jest.getTimerCount()).toBe(0);
  });

  test('a run that has verified stays so, whatever happens to its connections', () => {
    const run = ledger.arrive('x', '10.0.0.1:1');
    ledger.conclude(run, PASS);
    ledger.lose(run, LOST);
    ledger.arrive('x', '10.0.0.1:2');
    ledger.conclude(run, FULL);
    jest.advanceTimersByTime(10 * RETURN_MS);
    expect(finished).toEqual([[run, PASS]]);
    expect(ledger.count('verified')).toBe(1);
  });

  test('a run that failed may come back and verify', () => {
    const run = ledger.arrive('x', '10.0.0.1:1');
    ledger.lose(run, LOST);
    jest.advanceTimersByTime(RETURN_MS);
    ledger.arrive('x', '10.0.0.1:2');
    ledger.conclude(run, PASS);
    expect(finished.map(([, verdict]) => verdict)).toEqual([LOST, PASS]);
    expect([ledger.count('verified'), ledger.count('failed')]).toEqual([1, 0]);
  });

  test('a run is lost only once', () => {
    const run = ledger.arrive('x', '10.0.0.1:1');
    ledger.lose(run, LOST);
    ledger.lose(run, FULL);
    jest.advanceTimersByTime(10 * RETURN_MS);
    expect(finished).toEqual([[run, LOST]]);
  });

  test('a stop ends every open run as failed, and leaves no timer', () => {
    const [x, y, z] = ['x', 'y', 'z'].map((id) => ledger.arrive(id, '10.0.0.1:1')) as [Run, Run, Run];
    ledger.conclude(x, PASS);
    ledger.lose(y, LOST);
    ledger.concludeAll(FULL);
    expect(finished).toEqual([
      [x, PASS],
      [y, FULL],
      [z, FULL],
    ]);
    expect(jest.getTimerCount()).toBe(0);
  });
});
