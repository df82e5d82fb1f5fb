import { describe, expect, test } from '@jest/globals';
import { findLimit } from '#dist/core/client/find-limit.js';
import { StageTimes } from '#dist/core/client/stage-times.js';

const NO_WAITS = { sourceMs: 0, digestMs: 0, codecMs: 0, rateMs: 0, networkMs: 0 };

/** Times with only the given stages. */
function spent(stages: { hash?: number; decode?: number; starved?: number; blocked?: number }): StageTimes {
  const times = new StageTimes();
  times.count(1, stages.hash ?? 0, stages.decode ?? 0);
  Object.defineProperty(times, 'starvedMs', { value: stages.starved ?? 0 });
  Object.defineProperty(times, 'blockedMs', { value: stages.blocked ?? 0 });
  return times;
}

describe('what limited a transfer', () => {
  test('is the digest or the codec where its thread was busy with that', () => {
    expect(findLimit(spent({ hash: 90, starved: 10 }), NO_WAITS, 0)).toEqual({
      limitedBy: 'digest',
      share: 0.9,
    });
    expect(findLimit(spent({ hash: 30, decode: 70 }), NO_WAITS, 0)).toMatchObject({ limitedBy: 'codec' });
  });

  test('is the disk where memory waited to be written, flushing at the end included', () => {
    expect(findLimit(spent({ hash: 30, blocked: 20 }), NO_WAITS, 50)).toEqual({
      limitedBy: 'disk',
      share: 0.7,
    });
  });

  test('is the network where bytes did not come and the server waited for the network', () => {
    const waits = { ...NO_WAITS, networkMs: 80, sourceMs: 5 };
    expect(findLimit(spent({ hash: 20, starved: 80 }), waits, 0)).toEqual({
      limitedBy: 'network',
      share: 0.8,
    });
  });

  test('is the server, and what it waited for itself, where bytes did not come because of that', () => {
    for (const [field, serverLimit] of [
      ['sourceMs', 'source'],
      ['digestMs', 'digest'],
      ['codecMs', 'codec'],
      ['rateMs', 'rate'],
    ] as const) {
      const waits = { ...NO_WAITS, [field]: 80, networkMs: 5 };
      const finding = findLimit(spent({ hash: 20, starved: 80 }), waits, 0);
      expect(finding).toEqual({ limitedBy: 'server', share: 0.8, serverLimit });
    }
  });

  test('is the network where all of a short file fits into buffers and the server waited for nothing', () => {
    const waits = { ...NO_WAITS, digestMs: 5 };
    expect(findLimit(spent({ hash: 5, starved: 95 }), waits, 0)).toEqual({
      limitedBy: 'network',
      share: 0.95,
    });
  });

  test('has a share of 0 rather than NaN where no time was spent', () => {
    expect(findLimit(spent({}), NO_WAITS, 0).share).toBe(0);
  });
});
