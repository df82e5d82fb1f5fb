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

test('rates are raw KiB per second, 0 before anything was done', () => {
  const times = new StageTimes();
  expect([times.digestRate, times.decodeRate]).toEqual([0, 0]);
  times.count(1024 * 1000, 500, 0);
  expect([times.digestRate, times.decodeRate]).toEqual([2000, 0]);
});

test('the first chunks to be decoded say nothing about the codec', () => {
  const times = new StageTimes();
  times.count(8 * 1024 * 1024, 10, 1000);
  expect(times.decodeRate).toBe(0);
  times.count(1024 * 1000, 10, 250);
  expect(times.decodeRate).toBe(4000);
});

test('what was slow long ago is forgotten', () => {
  const times = new StageTimes();
  times.count(8 * 1024 * 1024, 8 * 1024, 0);
  expect(times.digestRate).toBe(1000);
  for (let count = 0; count < 20; count++) times.count(8 * 1024 * 1024, 8, 0);
  expect(times.digestRate).toBeGreaterThan(990_000);
});
