import { describe, expect, test } from '@jest/globals';
import { CodecChooser } from '#dist/core/server/codec-chooser.js';
import type { Forecast } from '#dist/core/server/payload-store.js';

const MIB = 1024 * 1024;
const CHUNK = MIB / 4;

/** A client and its link, bytes per second. */
interface World {
  readonly link: (second: number) => number;
  readonly digest: number;
  readonly decode: number;
  /** Of the one codec there is. */
  readonly ratio: (index: number) => number;
  /** One that has encoded everything already costs nothing. */
  readonly encode: number;
}

/** What differs in an interval of 32.768 ms in which one chunk came, or so many of them, and the rate that follows. */
interface Interval {
  readonly busyUs?: number;
  /** Share of the time in which the digest thread waited for bytes. */
  readonly starved?: number;
  readonly serverWaited?: boolean;
  readonly measurement?: boolean;
  readonly times?: number;
  readonly linkRate: number;
}

const BEHIND_SERVER = { serverWaited: true, busyUs: 16_384 };
const HALF_STARVED = { ...BEHIND_SERVER, starved: 0.5 };
const MEASURED = { ...HALF_STARVED, measurement: true };
const FAST_CLIENT = { digest: 1.2e9, decode: 1.5e9, encode: Number.POSITIVE_INFINITY };

/**
 * Sends chunks through a model of that world, four per report in the end as a server does, and says how long it took. A
 * chunk takes as long as the slower of the link and the client.
 */
function transfer(world: World, chunks: number, mode: 'auto' | 'raw' | 'encoded'): number {
  let clock = 0;
  let [received, starved] = [0, 0];
  const forecast = (index: number): Forecast | undefined =>
    world.ratio(index) >= 1
      ? undefined
      : { length: CHUNK * world.ratio(index), ready: true, encodeRate: world.encode, untried: false };
  const chooser = new CodecChooser([1], forecast, () => clock);
  const report = (decoded: boolean) =>
    chooser.report(
      {
        received,
        elapsedUs: clock * 1e6,
        starvedUs: starved * 1e6,
        busyUs: 0,
        digestRate: world.digest / 1024,
        decodeRate: decoded ? world.decode / 1024 : 0,
      },
      false,
    );
  report(false);
  for (let index = 0; index < chunks; index++) {
    const wanted = mode === 'auto' ? chooser.choose(index, CHUNK) : mode === 'raw' ? 0 : 1;
    const encoded = wanted === 1 && world.ratio(index) < 1;
    const bytes = encoded ? CHUNK * world.ratio(index) : CHUNK;
    const onLink = bytes / world.link(clock);
    const atClient = CHUNK / world.digest + (encoded ? CHUNK / world.decode : 0);
    const seconds = Math.max(onLink, atClient);
    clock += seconds;
    received += bytes;
    starved += seconds - atClient;
    if (index < 2 || index % 4 === 3) report(encoded);
  }
  return clock;
}

const text = () => 1 / 12;
const random = () => 1;
const halfAndHalf = (index: number) => (index < 400 ? 1 : 1 / 12);
const alternating = (index: number) => (index % 2 === 0 ? 1 : 1 / 12);

describe('the automatic choice of a codec', () => {
  const links = [
    ['64 Mbit/s', 8e6, 1.05],
    ['1 Gbit/s', 125e6, 1.05],
    ['a link faster than the client', 5e9, 1.1],
  ] as const;
  const files = [
    ['log text', text],
    ['random data', random],
    ['half random, half text', halfAndHalf],
    ['alternating random and text', alternating],
  ] as const;
  for (const [linkName, rate, factor] of links) {
    for (const [fileName, ratio] of files) {
      test(`comes close to the better of raw and encoded: ${fileName} over ${linkName}`, () => {
        const world = { ...FAST_CLIENT, link: () => rate, ratio };
        const best = Math.min(transfer(world, 1000, 'raw'), transfer(world, 1000, 'encoded'));
        expect(transfer(world, 1000, 'auto') / best).toBeLessThan(factor);
      });
    }
  }

  test('begins raw, since nothing is known yet', () => {
    const chooser = new CodecChooser([1], () => ({
      length: 1,
      ready: true,
      encodeRate: 1e9,
      untried: false,
    }));
    expect(chooser.choose(0, CHUNK)).toBe(0);
  });

  test('follows a link that becomes slow, and one that becomes fast again', () => {
    const world = {
      ...FAST_CLIENT,
      ratio: text,
      link: (second: number) => (second > 1 && second < 2 ? 8e6 : 5e9),
    };
    const auto = transfer(world, 12_000, 'auto');
    expect(auto).toBeLessThan(1.1 * transfer(world, 12_000, 'raw'));
    expect(auto).toBeLessThan(1.1 * transfer(world, 12_000, 'encoded'));
  });

  test('does not wait for a slow encoder where the link is faster than that', () => {
    const slow = () => ({ length: CHUNK / 12, ready: false, encodeRate: 50e6, untried: false });
    const chooser = new CodecChooser([1], slow, () => 0);
    measure(chooser, 125e6);
    expect(chooser.choose(5, CHUNK)).toBe(0);
    measure(chooser, 8e6);
    expect(chooser.choose(6, CHUNK)).toBe(1);
  });

  test('takes a chunk that is encoded already even where encoding would be too slow', () => {
    const ready = () => ({ length: CHUNK / 12, ready: true, encodeRate: 50e6, untried: false });
    const chooser = new CodecChooser([1], ready, () => 0);
    measure(chooser, 125e6);
    expect(chooser.choose(5, CHUNK)).toBe(1);
  });

  test('tries a codec that nothing is known of where the link is so slow that trying costs nothing', () => {
    const known = { length: CHUNK / 12, ready: true, encodeRate: 4e8, untried: false };
    const unknown = { length: CHUNK / 2, ready: false, encodeRate: undefined, untried: true };
    const chooser = new CodecChooser(
      [1, 2],
      (_, codec) => (codec === 1 ? known : unknown),
      () => 0,
    );
    measure(chooser, 125e6);
    expect(chooser.choose(5, CHUNK)).toBe(1);
    measure(chooser, 8e6);
    measure(chooser, 8e6);
    expect(chooser.choose(6, CHUNK)).toBe(2);
  });

  test('considers a second codec only where the rate was found twice', () => {
    const forecast = (_: number, codec: number) => ({
      length: CHUNK / (codec === 1 ? 2 : 20),
      ready: true,
      encodeRate: 4e8,
      untried: false,
    });
    const chooser = new CodecChooser([1, 2], forecast, () => 0);
    const report = (received: number, elapsedMs: number) =>
      chooser.report(
        {
          received,
          elapsedUs: elapsedMs * 1000,
          starvedUs: elapsedMs * 1000,
          busyUs: 0,
          digestRate: 0,
          decodeRate: 0,
        },
        false,
      );
    report(0, 0);
    report(80_000, 10);
    expect(chooser.choose(5, CHUNK)).toBe(1);
    report(480_000, 60);
    expect(chooser.choose(6, CHUNK)).toBe(2);
  });

  const UNKNOWN = Number.POSITIVE_INFINITY;
  test.each<[string, Interval]>([
    ['a client with nothing else to do waited for it', { linkRate: 8e6 }],
    ['the client was at work for half of the time', { busyUs: 16_384, linkRate: 16e6 }],
    ['the client was at work all the time', { busyUs: 32_000, linkRate: UNKNOWN }],
    ['the server was at work, and the client for a while', { ...BEHIND_SERVER, linkRate: UNKNOWN }],
    ['the server was at work, over a longer time', { ...BEHIND_SERVER, times: 4, linkRate: 16e6 }],
    ['the server was at work, and the digest thread too', { ...HALF_STARVED, times: 4, linkRate: UNKNOWN }],
    ['the server was at work, while little was measured', { ...MEASURED, linkRate: UNKNOWN }],
    ['the server was at work, while much was measured', { ...MEASURED, times: 4, linkRate: 16e6 }],
  ])('believes of a link that it is slow as far as nothing else explains it: %s', (_, interval) => {
    const { busyUs = 0, starved = 1, serverWaited = false, measurement = false, times = 1 } = interval;
    const ready = () => ({ length: CHUNK / 12, ready: true, encodeRate: 4e8, untried: false });
    const chooser = new CodecChooser([1], ready, () => 0);
    for (const count of [0, times]) {
      const elapsedUs = 32_768 * count;
      const client = { starvedUs: starved * elapsedUs, busyUs: busyUs * count, digestRate: 0, decodeRate: 0 };
      const report = { ...client, received: CHUNK * count, elapsedUs };
      chooser.report(report, serverWaited, measurement && count > 0);
    }
    expect(chooser.linkRate).toBeCloseTo(interval.linkRate);
  });

  test('does not measure anew for a rate that is hardly higher than the one it knows', () => {
    const ready = () => ({ length: CHUNK / 12, ready: true, encodeRate: 4e8, untried: false });
    for (const [factor, known] of [
      [1.2, 8e6],
      [1.5, 12e6],
    ] as const) {
      const chooser = new CodecChooser([1], ready, () => 0);
      const report = (chunks: number, elapsedUs: number, starvedUs: number) =>
        chooser.report(
          { received: CHUNK * chunks, elapsedUs, starvedUs, busyUs: 0, digestRate: 0, decodeRate: 0 },
          false,
        );
      report(0, 0, 0);
      report(4, 4 * 32_768, 4 * 32_768);
      report(4 + factor, 5 * 32_768, 4 * 32_768);
      expect(chooser.linkRate).toBeCloseTo(known);
    }
  });

  test('prefers the codec that makes less of a chunk on a slow link', () => {
    const forecast = (_: number, codec: number) => ({
      length: CHUNK / (codec === 1 ? 12 : 20),
      ready: true,
      encodeRate: 4e8,
      untried: false,
    });
    const chooser = new CodecChooser([1, 2], forecast, () => 0);
    measure(chooser, 8e6);
    measure(chooser, 8e6);
    expect(chooser.choose(5, CHUNK)).toBe(2);
  });

  test('believes a rate for longer each time it is found again, then looks whether raw is faster by now', () => {
    let clock = 0;
    const ready = () => ({ length: CHUNK / 12, ready: true, encodeRate: 4e8, untried: false });
    const chooser = new CodecChooser([1], ready, () => clock);
    let received = 0;
    const report = () =>
      chooser.report(
        {
          received: 80_000 * received++,
          elapsedUs: received * 10_000,
          starvedUs: received * 10_000,
          busyUs: 0,
          digestRate: 1.2e6,
          decodeRate: 1.2e6,
        },
        false,
      );
    const isBelieved = (second: number) => {
      clock = second;
      return chooser.choose(5, CHUNK) === 1 && Number.isFinite(chooser.linkRate);
    };
    report();
    report();
    expect(isBelieved(0.99)).toBe(true);
    report();
    expect([isBelieved(1.01), isBelieved(2.98)]).toEqual([true, true]);
    report();
    expect([isBelieved(3), isBelieved(6.97), isBelieved(6.99)]).toEqual([true, true, false]);
    expect(chooser.linkRate).toBe(Number.POSITIVE_INFINITY);
  });

  test('does not take what has gathered while the client paused for a faster link', () => {
    const ready = () => ({ length: CHUNK / 12, ready: true, encodeRate: 4e8, untried: false });
    const chooser = new CodecChooser([1], ready, () => 0);
    const report = (received: number, elapsedMs: number, starvedMs: number) =>
      chooser.report(
        {
          received,
          elapsedUs: elapsedMs * 1000,
          starvedUs: starvedMs * 1000,
          busyUs: 0,
          digestRate: 1.2e6,
          decodeRate: 1.2e6,
        },
        false,
      );
    report(0, 0, 0);
    report(2 * MIB, 250, 245);
    expect(chooser.choose(5, CHUNK)).toBe(1);
    // 200 ms without a turn, then everything that came meanwhile within a millisecond.
    report(2 * MIB + 800_000, 450.5, 245);
    report(2 * MIB + 1_600_000, 451, 245);
    expect(chooser.choose(6, CHUNK)).toBe(1);
    expect(chooser.linkRate).toBeLessThan(10e6);
  });
});

let megabytes = 0;
let seconds = 0;

/** A report that begins an interval, and one of a client that has starved through 4 MiB over such a link. */
function measure(chooser: CodecChooser, link: number): void {
  for (const duration of [1, (4 * MIB) / link]) {
    megabytes += 4;
    seconds += duration;
    chooser.report(
      {
        received: megabytes * MIB,
        elapsedUs: seconds * 1e6,
        starvedUs: seconds * 1e6,
        busyUs: 0,
        digestRate: 1.2e6,
        decodeRate: 1.2e6,
      },
      false,
    );
  }
}
