import { expect, test } from '@jest/globals';
import { Crowd } from '#dist/core/server/crowd.js';

test.each([
  ['four clients, and half of the time without a processor', 4, 0.5, true],
  ['eight clients, and a third of the time without a processor', 8, 0.33, true],
  ['three clients, whatever they lack', 3, 0.9, false],
  ['four clients, and a processor nearly always', 4, 0.2, false],
])('%s', (_, members, share, starved) => {
  const { crowd, pass } = createCrowd(members);
  pass(60, 60 * share);
  expect(crowd.starved).toBe(starved);
});

test('processors are not short before there was time to tell, and no longer when there are enough again', () => {
  const { crowd, pass } = createCrowd(4);
  pass(40, 40);
  expect(crowd.starved).toBe(false);
  pass(20, 20);
  expect(crowd.starved).toBe(true);
  pass(60, 0);
  expect(crowd.starved).toBe(false);
});

test('a client counts once, and until it is gone', () => {
  const { crowd, members, pass } = createCrowd(4);
  crowd.leave(members[0] as object);
  crowd.join(members[1] as object);
  pass(60, 60);
  expect(crowd.starved).toBe(false);
  crowd.join(members[0] as object);
  expect(crowd.starved).toBe(true);
});

function createCrowd(size: number) {
  let [now, waited] = [1000, 500];
  const crowd = new Crowd(
    () => waited,
    () => now,
  );
  const members = Array.from({ length: size }, () => ({}));
  for (const member of members) crowd.join(member);
  const pass = (ms: number, waitedMs: number) => {
    now += ms;
    waited += waitedMs;
  };
  return { crowd, members, pass };
}
