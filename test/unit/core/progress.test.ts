import { describe, expect, test } from '@jest/globals';
import { RateMeter } from '#dist/core/progress.js';

/** A meter with a five-second window and a clock that the test moves. */
function meterAt(startBytes = 0) {
  const clock = { ms: 1000 };
  return { clock, meter: new RateMeter(() => clock.ms, 5000, startBytes) };
}

describe('RateMeter', () => {
  test('knows no rate and no end before any time has passed', () => {
    const { meter } = meterAt();
    meter.update(1000);
    expect(meter.rate()).toBeUndefined();
    expect(meter.etaSeconds(2000)).toBeUndefined();
  });

  test('measures a steady stream', () => {
    const { clock, meter } = meterAt();
    for (let i = 1; i <= 100; i++) {
      clock.ms += 200;
      meter.update(i * 200);
    }
    expect(meter.rate()).toBeCloseTo(1000, 5);
    expect(meter.etaSeconds(25_000)).toBeCloseTo(5, 5);
    expect(meter.bytes).toBe(20_000);
  });

  test('forgets what lies before its window', () => {
    const { clock, meter } = meterAt();
    for (let i = 1; i <= 10; i++) {
      clock.ms += 1000;
      meter.update(i * 1_000_000);
    }
    for (let i = 1; i <= 6; i++) {
      clock.ms += 1000;
      meter.update(10_000_000 + i * 10);
    }
    expect(meter.rate()).toBeCloseTo(10, 5);
  });

  test('does not count what was there at the start', () => {
    const { clock, meter } = meterAt(1_000_000);
    clock.ms += 1000;
    meter.update(1_000_500);
    expect(meter.rate()).toBe(500);
  });

  test('tends to 0 while nothing moves, and then knows no end', () => {
    const { clock, meter } = meterAt();
    clock.ms += 1000;
    meter.update(1000);
    clock.ms += 1000;
    expect(meter.rate()).toBe(500);
    clock.ms += 60_000;
    expect(meter.rate()).toBe(0);
    expect(meter.etaSeconds(2000)).toBeUndefined();
  });

  test('starts again when the count goes down', () => {
    const { clock, meter } = meterAt();
    clock.ms += 1000;
    meter.update(1_000_000);
    clock.ms += 1000;
    meter.update(0);
    expect(meter.rate()).toBeUndefined();
    clock.ms += 1000;
    meter.update(300);
    expect(meter.rate()).toBe(300);
  });

  test('is done at once when there is nothing to do', () => {
    expect(meterAt().meter.etaSeconds(0)).toBe(0);
  });

  test('measures the same however often it is told', () => {
    const rare = meterAt();
    const often = meterAt();
    for (let ms = 1; ms <= 10_000; ms++) {
      often.clock.ms += 1;
      often.meter.update(ms * 7);
      if (ms % 500 === 0) {
        rare.clock.ms += 500;
        rare.meter.update(ms * 7);
      }
    }
    expect(often.meter.rate()).toBeCloseTo(7000, 0);
    expect(rare.meter.rate()).toBeCloseTo(7000, 0);
  });
});
