import { describe, expect, test } from '@jest/globals';
import { WireBoundError } from '#dist/core/errors.js';
import {
  formatBytes,
  formatDuration,
  formatPercent,
  formatRate,
  parseChunkSize,
  parseCount,
  parsePort,
  parseRate,
  parseSeconds,
  parseSize,
} from '#dist/core/units.js';

/** The error that `parse` throws; the test fails when there is none. */
function usageOf(parse: () => unknown): WireBoundError {
  try {
    parse();
  } catch (error) {
    expect(error).toBeInstanceOf(WireBoundError);
    expect((error as WireBoundError).code).toBe('USAGE');
    return error as WireBoundError;
  }
  throw new Error('it was accepted');
}

/** Texts that Number() or parseInt() would make something of. */
const NEVER_A_NUMBER = [
  '',
  ' ',
  'abc',
  '-1',
  '+1',
  '1e3',
  '0x10',
  'NaN',
  'Infinity',
  '1,5',
  '９',
  '1 2',
  '--1',
];

describe('parseSize', () => {
  test.each([
    ['1B', 1],
    ['64k', 65_536],
    ['50M', 52_428_800],
    ['50MB', 52_428_800],
    ['50 MiB', 52_428_800],
    ['1.5GiB', 1_610_612_736],
    ['2g', 2_147_483_648],
    ['1T', 1_099_511_627_776],
    [' 1.0001k ', 1024],
  ])('reads %j as %d bytes', (text, bytes) => {
    expect(parseSize(text, '--memory')).toBe(bytes);
  });

  test.each([
    ...NEVER_A_NUMBER,
    '50',
    '0M',
    '0.1B',
    'M',
    '1.M',
    '.5M',
    '5X',
    '5MM',
    '8192T',
    '9007199254740993B',
  ])('refuses %j, naming flag, value and what is expected', (text) => {
    const { message } = usageOf(() => parseSize(text, '--memory'));
    expect(message).toContain(`--memory ${JSON.stringify(text)}`);
    expect(message).toContain('50M');
    expect(message).not.toContain('\n');
  });
});

describe('parseChunkSize', () => {
  test.each([
    ['64', 65_536],
    ['256', 262_144],
    ['68', 69_632],
    ['64k', 65_536],
    ['64KiB', 65_536],
    ['1M', 1_048_576],
    ['16MiB', 16_777_216],
    ['16384', 16_777_216],
  ])('reads %j as %d bytes', (text, bytes) => {
    expect(parseChunkSize(text)).toBe(bytes);
  });

  test.each([
    ...NEVER_A_NUMBER,
    '0',
    '1.5',
    '1.5M',
    '256KB',
    '63',
    '65',
    '16388',
    '17M',
    '4194304',
    '9007199254740993',
  ])('refuses %j, naming flag, value and range', (text) => {
    const { message } = usageOf(() => parseChunkSize(text));
    expect(message).toContain(`--chunk ${JSON.stringify(text)}`);
    expect(message).toContain('from 64 KiB to 16 MiB');
  });
});

describe('parsePort', () => {
  test.each([
    ['1', 1],
    ['6767', 6767],
    ['65535', 65_535],
  ])('reads %j', (text, port) => {
    expect(parsePort(text)).toBe(port);
  });

  test('takes 0 only where the system may pick a port', () => {
    expect(parsePort('0', '--port', 0)).toBe(0);
    expect(usageOf(() => parsePort('0')).message).toContain('from 1 to 65535');
  });

  test.each([...NEVER_A_NUMBER, '65536', '70000', '6767.5', '99999999999999999999'])('refuses %j', (text) => {
    const { message } = usageOf(() => parsePort(text, '--port', 0));
    expect(message).toBe(`--port ${JSON.stringify(text)} is not valid: give a port from 0 to 65535`);
  });
});

describe('parseRate', () => {
  test.each([
    ['500k', 512_000],
    ['50M', 52_428_800],
    ['50M/s', 52_428_800],
    ['1.5GiB/s', 1_610_612_736],
  ])('reads %j as %d bytes per second', (text, rate) => {
    expect(parseRate(text, '--limit-rate')).toBe(rate);
  });

  test.each([...NEVER_A_NUMBER, '50', '0M/s', '50M/m', '/s', '50mbit'])('refuses %j', (text) => {
    expect(usageOf(() => parseRate(text, '--limit-rate')).message).toContain(
      `--limit-rate ${JSON.stringify(text)}`,
    );
  });
});

describe('parseCount and parseSeconds', () => {
  test('read whole numbers, and seconds as milliseconds', () => {
    expect(parseCount('1', '--until')).toBe(1);
    expect(parseCount('1000000', '--until')).toBe(1_000_000);
    expect(parseSeconds('0', '--wait')).toBe(0);
    expect(parseSeconds('0.5', '--wait')).toBe(500);
    expect(parseSeconds('604800', '--wait')).toBe(604_800_000);
  });

  test.each([...NEVER_A_NUMBER, '0', '1.5', '1000001'])('refuse %j as a count', (text) => {
    expect(usageOf(() => parseCount(text, '--until')).message).toContain('from 1 to 1000000');
  });

  test.each([...NEVER_A_NUMBER, '604801', '1.', '0.1234'])('refuse %j as seconds', (text) => {
    expect(usageOf(() => parseSeconds(text, '--wait')).message).toContain('from 0 to 604800');
  });
});

describe('figures for people', () => {
  test.each([
    [0, '0 B'],
    [1, '1 B'],
    [1023, '1023 B'],
    [1024, '1 KiB'],
    [262_144, '256 KiB'],
    [1_610_612_736, '1.5 GiB'],
    [1024 * 1024 - 1, '1 MiB'],
    [Number.MAX_SAFE_INTEGER, '8 PiB'],
    [2 ** 70, '1048576 PiB'],
    [-1, '0 B'],
    [Number.NaN, '0 B'],
    [Number.POSITIVE_INFINITY, '0 B'],
  ])('%d bytes are %j', (bytes, text) => {
    expect(formatBytes(bytes)).toBe(text);
  });

  test.each([
    [117_859_942, '112.4 MiB/s'],
    [0, '0 B/s'],
    [undefined, '-'],
    [Number.NaN, '-'],
    [Number.POSITIVE_INFINITY, '-'],
  ])('a rate of %p is %j', (rate, text) => {
    expect(formatRate(rate)).toBe(text);
  });

  test.each([
    [0, '0 s'],
    [0.04, '0 s'],
    [12.34, '12.3 s'],
    [13, '13 s'],
    [59.94, '59.9 s'],
    [59.96, '1 min 00 s'],
    [185, '3 min 05 s'],
    [3599.4, '59 min 59 s'],
    [3599.6, '1 h 00 min'],
    [3720, '1 h 02 min'],
    [86_399, '1 d 00 h'],
    [183_600, '2 d 03 h'],
    [-5, '0 s'],
    [undefined, '-'],
    [Number.NaN, '-'],
    [Number.POSITIVE_INFINITY, '-'],
  ])('%p seconds are %j', (seconds, text) => {
    expect(formatDuration(seconds)).toBe(text);
  });

  test.each([
    [0, 100, '0.0 %'],
    [342, 1000, '34.2 %'],
    [999_999, 1_000_000, '99.9 %'],
    [1_000_000, 1_000_000, '100 %'],
    [2, 1, '100 %'],
    [0, 0, '100 %'],
    [-1, 10, '0.0 %'],
    [Number.NaN, 10, '0.0 %'],
  ])('%d of %d are %j', (done, total, text) => {
    expect(formatPercent(done, total)).toBe(text);
  });
});
