import { setTimeout } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import type { ClientKeepalive } from '#dist/core/framing/messages.js';
import { ClientReports } from '#dist/core/server/client-reports.js';
import { Waits } from '#dist/core/server/waits.js';

const REPORT: ClientKeepalive = {
  received: 1000,
  elapsedUs: 0,
  starvedUs: 0,
  busyUs: 0,
  digestRate: 0,
  decodeRate: 0,
};

test('a report says whether the server was at work itself for most of the time before it', async () => {
  const waits = new Waits();
  const reports = new ClientReports(waits);
  await waits.time('codecMs', () => setTimeout(50));
  expect(reports.take(REPORT)).toBe(true);
  await setTimeout(500); // most of it idle, however busy this machine is
  expect(reports.take(REPORT)).toBe(false);
});

test('reports that were asked for together and come together share the time since then', async () => {
  const waits = new Waits();
  const reports = new ClientReports(waits);
  reports.take(REPORT);
  reports.asked();
  await waits.time('sourceMs', () => setTimeout(50));
  expect([reports.take(REPORT), reports.take(REPORT)]).toEqual([true, true]);
});

test('a wait for a report ends with one on so many bytes, or with the signal', async () => {
  const reports = new ClientReports(new Waits());
  const { signal } = new AbortController();
  let over = false;
  const reached = reports.reaches(1000, signal).then(() => {
    over = true;
  });
  reports.take({ ...REPORT, received: 999 });
  await setTimeout(1);
  expect(over).toBe(false);
  reports.take(REPORT);
  await reached;
  await reports.reaches(1000, signal);
  await reports.reaches(2000, AbortSignal.abort());
  expect(reports.received).toBe(1000);
});
