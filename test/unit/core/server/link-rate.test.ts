import { beforeEach, describe, expect, test } from '@jest/globals';
import { LinkRate } from '#dist/core/server/link-rate.js';

const UNKNOWN = Number.POSITIVE_INFINITY;
const KERNEL = 20e6;
const CLIENT = 10e6;

/** A tenth of a second of a connection, as its two witnesses see it. */
interface Scene {
  /** Share of the time in which the path held bytes up; undefined: the kernel says nothing. */
  readonly limited?: number;
  readonly raw?: boolean;
  readonly serverWaited?: boolean;
  readonly rate: number;
}

/** Two tenths of a second: the first is only there to be compared with. The kernel has seen twice what the client has. */
function rateAfter({ limited, raw = true, serverWaited = false }: Omit<Scene, 'rate'>): number {
  const link = new LinkRate(() => 0);
  for (const tenths of [0, 1]) {
    const us = tenths * 100_000;
    if (limited !== undefined) {
      const acknowledged = tenths * (KERNEL / 10) * limited;
      link.look({ atUs: us, acknowledged, unsent: 0, pathLimitedUs: us * limited }, raw);
    }
    const starving = { starvedUs: us, busyUs: 0, digestRate: 0, decodeRate: 0 };
    link.report({ ...starving, received: (tenths * CLIENT) / 10, elapsedUs: us }, serverWaited, false);
  }
  return link.value;
}

test.each<[string, Scene]>([
  ['the kernel, where it sees that the path is the limit', { limited: 1, rate: KERNEL }],
  ['the kernel, also if the server is busy', { limited: 1, serverWaited: true, rate: KERNEL }],
  ['the client, where the kernel says nothing', { rate: CLIENT }],
  [
    'the client, also if the server is busy, where the kernel says nothing',
    { serverWaited: true, rate: CLIENT },
  ],
  ['the client, where the kernel sees no limit: behind a tunnel', { limited: 0.1, rate: CLIENT }],
  ['nobody, where the server itself may be the limit', { limited: 0.1, serverWaited: true, rate: UNKNOWN }],
  ['the client, while chunks are encoded', { limited: 1, raw: false, rate: CLIENT }],
])('who is believed: %s', (_, { rate, ...scene }) => {
  expect(rateAfter(scene)).toBeCloseTo(rate);
});

describe('a client behind a busy server', () => {
  let link: LinkRate;
  let received = 0;
  let us = 0;

  /** Chunks are encoded for a tenth of a second. */
  function tenth(rate: number, serverWaited: boolean, unsent: number): void {
    us += 100_000;
    received += rate / 10;
    link.look({ atUs: us, acknowledged: received, unsent, pathLimitedUs: us }, false);
    const starving = { starvedUs: us, busyUs: 0, digestRate: 0, decodeRate: 0 };
    link.report({ ...starving, received, elapsedUs: us }, serverWaited, false);
  }

  beforeEach(() => {
    link = new LinkRate(() => 0);
    received = us = 0;
    tenth(CLIENT, false, 0);
    tenth(CLIENT, false, 0);
    expect([link.value, link.confirmed]).toEqual([expect.closeTo(CLIENT), false]);
  });

  test.each([
    ['is like the one known, and bytes stood in the queue', CLIENT, [1, 1], true],
    ['is another', 3 * CLIENT, [1, 1], false],
    ['may be that of the server, which has sent all it had', CLIENT, [0, 0], false],
    ['may be that of the server, which had sent all before', CLIENT, [0, 1], false],
    ['may be that of the server, which has sent all by now', CLIENT, [1, 0], false],
  ])('confirms a rate, or does not: what it sees %s', (_, rate, [before, after], confirmed) => {
    tenth(3 * CLIENT, true, before as number);
    tenth(rate, true, after as number);
    expect([link.value, link.confirmed]).toEqual([expect.closeTo(CLIENT), confirmed]);
  });
});

test('what is known does not outlast the path that is free, while everything goes raw', () => {
  let now = 0;
  const link = new LinkRate(() => now);
  const look = (seconds: number, limitedS: number, megabytes: number) => {
    now = seconds;
    const acknowledged = megabytes * 1e6;
    link.look({ atUs: seconds * 1e6, acknowledged, unsent: 1, pathLimitedUs: limitedS * 1e6 }, true);
  };
  look(0, 0, 0);
  look(0.05, 0.05, 1);
  expect(link.value).toBeCloseTo(KERNEL);
  look(0.12, 0.05, 50);
  expect(link.value).toBeCloseTo(KERNEL); // it may be from the same time as what was measured
  look(0.2, 0.05, 100);
  expect(link.value).toBe(UNKNOWN);
});

test('a client that has seen the same as the kernel does not confirm it', () => {
  const link = new LinkRate(() => 0);
  for (const us of [0, 100_000]) {
    const bytes = (us / 1e6) * KERNEL;
    link.look({ atUs: us, acknowledged: bytes, unsent: 1, pathLimitedUs: us }, true);
    const starving = { starvedUs: us, busyUs: 0, digestRate: 0, decodeRate: 0 };
    link.report({ ...starving, received: bytes, elapsedUs: us }, true, true);
  }
  expect([link.value, link.confirmed]).toEqual([expect.closeTo(KERNEL), false]);
});

test('the kernel is not asked again about the time in which chunks were encoded, or nothing was sent', () => {
  const link = new LinkRate(() => 0);
  const limited = (ms: number, kilobytes: number) => ({
    atUs: ms * 1000,
    acknowledged: kilobytes * 1000,
    unsent: 0,
    pathLimitedUs: ms * 1000,
  });
  link.look(limited(0, 0), true);
  link.look(limited(40, 4000), false);
  link.look(limited(60, 4400), true);
  link.lookAgain(limited(100, 9000));
  expect(link.value).toBe(UNKNOWN);
  link.look(limited(140, 9800), true);
  expect(link.value).toBeCloseTo(20e6);
});
