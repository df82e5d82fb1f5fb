import { WireBoundError } from './errors.js';

const KIB = 1024;
const MIB = KIB * KIB;
const UNIT_POWERS: Readonly<Record<string, number>> = { '': 0, k: 1, m: 2, g: 3, t: 4 };
const UNIT_NAMES = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'];

const MIN_CHUNK_SIZE = 64 * KIB;
const MAX_CHUNK_SIZE = 16 * MIB;
const CHUNK_STEP = 4 * KIB;

function usage(flag: string, text: string, expected: string): WireBoundError {
  return new WireBoundError('USAGE', `${flag} ${JSON.stringify(text)} is not valid: ${expected}`);
}

/** Digits only, as a safe integer; undefined for anything else (`1e3`, `0x10`, `-1`, an empty string). */
function wholeNumber(text: string): number | undefined {
  const value = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
  return Number.isSafeInteger(value) ? value : undefined;
}

/**
 * A size in bytes from text with a unit: `50M`, `64k`, `1.5GiB`, `100B`. Multiples are binary whichever way
 * they are spelled (`M`, `MB` and `MiB` are 1024 x 1024). `flag` is named in the error.
 * @throws WireBoundError USAGE when the unit is missing or the size is not from 1 B to 8 PiB.
 */
export function parseSize(text: string, flag: string): number {
  const match = /^(\d{1,16}(?:\.\d{1,9})?) ?(?:([kmgt])(?:i?b)?|b)$/i.exec(text.trim());
  const power = UNIT_POWERS[match?.[2]?.toLowerCase() ?? ''] ?? 0;
  const bytes = match === null ? Number.NaN : Math.floor(Number(match[1]) * KIB ** power);
  if (Number.isSafeInteger(bytes) && bytes > 0) return bytes;
  throw usage(flag, text, 'give a size above 0 with a unit, such as 64k, 50M or 1.5GiB');
}

/**
 * A chunk size in bytes from `256` (KiB), `64k` or `1M`.
 * @throws WireBoundError USAGE unless it is a multiple of 4 KiB from 64 KiB to 16 MiB.
 */
export function parseChunkSize(text: string, flag = '--chunk'): number {
  const match = /^(\d+)(k|kib|m|mib)?$/i.exec(text.trim());
  const unit = match?.[2]?.toLowerCase().startsWith('m') === true ? MIB : KIB;
  const bytes = (wholeNumber(match?.[1] ?? '') ?? 0) * unit;
  if (bytes >= MIN_CHUNK_SIZE && bytes <= MAX_CHUNK_SIZE && bytes % CHUNK_STEP === 0) return bytes;
  throw usage(flag, text, 'give KiB (256) or a unit (64k, 1M): a multiple of 4 KiB from 64 KiB to 16 MiB');
}

/**
 * A TCP port from decimal digits.
 * @throws WireBoundError USAGE unless it is from `lowest` (0 where the system may pick one) to 65535.
 */
export function parsePort(text: string, flag = '--port', lowest: 0 | 1 = 1): number {
  const port = wholeNumber(text.trim()) ?? -1;
  if (port >= lowest && port <= 65535) return port;
  throw usage(flag, text, `give a port from ${lowest} to 65535`);
}

/**
 * Bytes per second from a size with a unit, with or without `/s`: `50M`, `50MiB/s`.
 * @throws WireBoundError USAGE as {@link parseSize} does.
 */
export function parseRate(text: string, flag: string): number {
  try {
    return parseSize(text.trim().replace(/\/s$/i, ''), flag);
  } catch {
    throw usage(flag, text, 'give bytes per second above 0 with a unit, such as 500k, 50M or 1.5GiB/s');
  }
}

/**
 * A count of things from decimal digits.
 * @throws WireBoundError USAGE unless it is from 1 to a million.
 */
export function parseCount(text: string, flag: string): number {
  const count = wholeNumber(text.trim()) ?? 0;
  if (count >= 1 && count <= 1_000_000) return count;
  throw usage(flag, text, 'give a whole number from 1 to 1000000');
}

/**
 * Milliseconds from seconds in decimal notation (`30`, `0.5`).
 * @throws WireBoundError USAGE unless it is from 0 to 604800 seconds (a week).
 */
export function parseSeconds(text: string, flag: string): number {
  const seconds = /^\d{1,6}(?:\.\d{1,3})?$/.test(text.trim()) ? Number(text) : Number.NaN;
  if (seconds <= 604_800) return Math.round(seconds * 1000);
  throw usage(flag, text, 'give seconds from 0 to 604800');
}

/** A size for people in IEC units, one decimal at most: `0 B`, `256 KiB`, `1.5 GiB`. Never `NaN`. */
export function formatBytes(bytes: number): string {
  let value = Number.isFinite(bytes) && bytes > 0 ? bytes : 0;
  let power = 0;
  // 1023.95 would be printed as "1024.0", which is the next unit's 1.
  while (value >= (power === 0 ? KIB : 1023.95) && power < UNIT_NAMES.length - 1) {
    value /= KIB;
    power++;
  }
  return `${trimDecimal(value, power === 0 ? 0 : 1)} ${UNIT_NAMES[power]}`;
}

/** A rate for people: `112.4 MiB/s`; `-` while it is not known. */
export function formatRate(bytesPerSecond: number | undefined): string {
  if (bytesPerSecond === undefined || !Number.isFinite(bytesPerSecond)) return '-';
  return `${formatBytes(bytesPerSecond)}/s`;
}

/** Seconds for people: `12.3 s`, `3 min 05 s`, `1 h 02 min`, `2 d 03 h`; `-` while not known. */
export function formatDuration(seconds: number | undefined): string {
  if (seconds === undefined || !Number.isFinite(seconds)) return '-';
  const positive = Math.max(0, seconds);
  if (positive < 59.95) return `${trimDecimal(positive, 1)} s`;
  const whole = Math.round(positive);
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${twoDigits(whole % 60)} s`;
  const minutes = Math.round(positive / 60);
  if (minutes < 24 * 60) return `${Math.floor(minutes / 60)} h ${twoDigits(minutes % 60)} min`;
  const hours = Math.round(positive / 3600);
  return `${Math.floor(hours / 24)} d ${twoDigits(hours % 24)} h`;
}

/** How much of `total` is done: `34.2 %`. `100 %` only when all is done; of nothing, all is done. */
export function formatPercent(done: number, total: number): string {
  if (done >= total) return '100 %';
  const tenths = Math.floor((done / total) * 1000);
  return `${((Number.isFinite(tenths) ? Math.max(0, tenths) : 0) / 10).toFixed(1)} %`;
}

function trimDecimal(value: number, decimals: number): string {
  return value.toFixed(decimals).replace(/\.0$/, '');
}

function twoDigits(value: number): string {
  return String(value).padStart(2, '0');
}
