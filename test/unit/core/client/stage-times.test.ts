import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { StageTimes } from '#dist/core/client/stage-times.js';

test('waiting counts for what is waited for, work for neither', async () => {
  const times = new StageTimes();
  times.restart();
  await delay(5);
  times.enter('busy');
  const starved = times.starvedMs;
  expect(starved).toBeGreaterThan(3);
  await delay(5);
  times.enter('blocked');
  await delay(5);
  expect(times.starvedMs).toBe(starved);
  expect(times.blockedMs).toBeGreaterThan(3);
});

test('once everything is there nothing counts any more, until it begins anew', async () => {
  const times = new StageTimes();
  times.stop();
  const starved = times.starvedMs;
  await delay(5);
  expect(times.starvedMs).toBe(starved);
  times.restart();
  await delay(5);
  expect(times.starvedMs).toBeGreaterThan(3);
});

const MIB = 1024 * 1024;
const RECENT = 64 * MIB;

test('rates are raw KiB per second, 0 before anything was done', () => {
  const times = new StageTimes();
  expect([times.digestRate, times.decodeRate]).toEqual([0, 0]);
  times.count(10 * MIB, 5 * 1024, 5 * 512);
  expect([times.digestRate, times.decodeRate]).toEqual([2000, 4000]);
});

test.each([
  ['hashed', 2 * MIB, 'digestRate'],
  ['decoded', 8 * MIB, 'decodeRate'],
] as const)('the first bytes that are %s say nothing', (_, first, rate) => {
  const times = new StageTimes();
  times.count(first, 1000, 1000);
  expect(times[rate]).toBe(0);
  times.count(1024 * 1000, 250, 250);
  expect(times[rate]).toBe(4000);
});

test('a wait for a processor changes little', () => {
  const times = new StageTimes();
  times.count(RECENT, 64, 0); // 1 ms for each MiB
  times.count(MIB, 61, 0);
  expect(times.digestRate).toBeGreaterThan(300_000);
});

test('what was slow long ago is forgotten', () => {
  const times = new StageTimes();
  times.count(RECENT, 64 * 1024, 0);
  expect(times.digestRate).toBe(1000);
  for (let count = 0; count < 20; count++) times.count(RECENT, 64, 0);
  expect(times.digestRate).toBeGreaterThan(990_000);
});
