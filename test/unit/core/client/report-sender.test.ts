import { setTimeout } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { ReportSender } from '#dist/core/client/report-sender.js';
import { type ClientKeepalive, parseClientKeepalive } from '#dist/core/framing/messages.js';

const HEADER = 8;

test('a report tells how long the thread had something to do', async () => {
  const reports: ClientKeepalive[] = [];
  const sender = new ReportSender(
    async (frame) => void reports.push(parseClientKeepalive(frame.subarray(HEADER))),
    () => 7,
  );
  const until = performance.now() + 60;
  while (performance.now() < until);
  sender.send();
  await setTimeout(400);
  sender.send();
  const [worked, idled] = reports as [ClientKeepalive, ClientKeepalive];
  expect(worked).toMatchObject({ received: 7, starvedUs: 0, digestRate: 0, decodeRate: 0 });
  expect(worked.busyUs).toBeGreaterThan(55_000);
  expect(idled.elapsedUs - worked.elapsedUs).toBeGreaterThan(390_000);
  expect(idled.busyUs - worked.busyUs).toBeLessThan(200_000);
});

test('reports that nobody takes do not pile up', async () => {
  let sent = 0;
  const sender = new ReportSender(
    () => {
      sent++;
      return setTimeout(20);
    },
    () => 0,
  );
  for (let count = 0; count < 100; count++) sender.send();
  await setTimeout(100);
  expect(sent).toBe(2);
});
