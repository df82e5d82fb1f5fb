import type { VerifyEvent, VerifyResult } from '../core/client/verify-event.js';
import { escapeForTerminal } from '../core/escape.js';
import { formatBytes, formatDuration, formatPercent } from '../core/units.js';
import { describeGetEvent } from './get-lines.js';
import { plural } from './plural.js';

/** Ranges of bad chunks that are spelled out. */
const SHOWN_RANGES = 20;

/** What one event of a comparison says to a person; see {@link describeGetEvent}. */
export function describeVerifyEvent(event: VerifyEvent): readonly string[] {
  switch (event.event) {
    case 'bad':
      return [];
    case 'manifest':
      return [
        `checking ${escapeForTerminal(event.path)}`,
        `against  ${escapeForTerminal(event.name)} at ${escapeForTerminal(event.address)}: ${formatBytes(event.size)} in ${plural(event.chunks, 'chunk')} of ${formatBytes(event.chunkSize)}`,
      ];
    case 'result':
      return resultLines(event);
    default:
      return describeGetEvent(event);
  }
}

function resultLines(result: VerifyResult): readonly string[] {
  const { bytes, localBytes, badChunks, chunks, comparedChunks } = result;
  const word = { IDENTICAL: 'PASS    ', REPAIRED: 'REPAIRED', DIFFERENT: 'FAIL    ' }[result.result];
  const says = {
    IDENTICAL: 'is identical',
    REPAIRED: 'was different and is identical now',
    DIFFERENT: 'is different',
  };
  const compared = comparedChunks === chunks ? '' : `, given up after chunk ${comparedChunks - 1}`;
  return [
    `${word} ${escapeForTerminal(result.path)} ${says[result.result]}`,
    ...(result.sha256 === undefined ? [] : [`SHA-256  ${result.sha256}`]),
    ...(badChunks.length === 0
      ? []
      : [
          `bad      ${plural(badChunks.length, 'chunk')} of ${chunks}${compared}: ${formatRanges(badChunks)}`,
        ]),
    ...(localBytes === bytes ? [] : [`length   ${localBytes} bytes instead of ${bytes}`]),
    ...(badChunks.length === 0 ? [] : [`good     ${goodShare(result)}`]),
    `size     ${formatBytes(bytes)} in ${formatDuration(result.seconds)}, ${formatBytes(result.bytesOnWire)} received`,
    ...(result.result === 'DIFFERENT' ? [nextStep(result)] : []),
  ];
}

function goodShare({ goodBytes, bytes, chunkSize, comparedChunks, chunks }: VerifyResult): string {
  if (comparedChunks === chunks) return `${formatPercent(goodBytes, bytes)} of ${formatBytes(bytes)}`;
  const compared = comparedChunks * chunkSize;
  return `${formatPercent(goodBytes, compared)} of the first ${formatBytes(compared)}`;
}

function nextStep({ comparedChunks, chunks }: VerifyResult): string {
  return comparedChunks === chunks
    ? '  the same command with --repair puts it right'
    : '  fetch it anew with wirebound get --force';
}

/** `17, 20-22`; a long list ends with how many more there are. */
function formatRanges(indexes: readonly number[]): string {
  const ranges: { first: number; last: number }[] = [];
  for (const index of indexes) {
    const range = ranges.at(-1);
    if (range?.last === index - 1) range.last = index;
    else ranges.push({ first: index, last: index });
  }
  const shown = ranges.slice(0, SHOWN_RANGES);
  const more = ranges.length > shown.length ? [`and ${ranges.length - shown.length} more ranges`] : [];
  const texts = shown.map(({ first, last }) => (first === last ? `${first}` : `${first}-${last}`));
  return [...texts, ...more].join(', ');
}
