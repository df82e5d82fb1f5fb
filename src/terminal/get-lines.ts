import type { GetEvent, GetResult } from '../core/client/get-event.js';
import { escapeForTerminal } from '../core/escape.js';
import { formatBytes, formatDuration, formatPercent, formatRate } from '../core/units.js';
import { plural } from './plural.js';

/** What one event of a client says to a person: lines that stay, none for events that only advance. */
export function describeGetEvent(event: GetEvent): readonly string[] {
  switch (event.event) {
    case 'waiting':
      return [`waiting for ${escapeForTerminal(event.address)}: ${escapeForTerminal(event.reason)}`];
    case 'manifest': {
      const chunks = `${plural(event.chunks, 'chunk')} of ${formatBytes(event.chunkSize)}`;
      return [
        `getting  ${escapeForTerminal(event.name)}: ${formatBytes(event.size)} in ${chunks}`,
        `from     ${escapeForTerminal(event.address)}`,
        `to       ${escapeForTerminal(event.path)}`,
      ];
    }
    case 'checking':
      return [`checking ${formatBytes(event.bytes)} at ${escapeForTerminal(event.path)}`];
    case 'kept':
      return [keptLine(event)];
    case 'reconnecting':
      return [
        `connecting again at chunk ${event.chunk} of ${event.chunks}: ${escapeForTerminal(event.reason)}`,
      ];
    case 'warning':
      return [`warning: ${escapeForTerminal(event.message)}`];
    case 'result':
      return event.result === 'PASS' ? passLines(event) : failLines(event);
    default:
      return [];
  }
}

function keptLine({ path, bytes, size }: Extract<GetEvent, { event: 'kept' }>): string {
  const shown = escapeForTerminal(path);
  return bytes === 0
    ? `kept     nothing of ${shown}: it does not begin like this file`
    : `kept     ${formatBytes(bytes)} of ${formatBytes(size)} from ${shown}`;
}

function passLines(result: GetResult): readonly string[] {
  const transfer = `${formatBytes(result.bytes)} in ${formatDuration(result.seconds)}`;
  return [
    `PASS     ${escapeForTerminal(result.name)}`,
    ...(result.sha256 === undefined ? [] : [`SHA-256  ${escapeForTerminal(result.sha256)}`]),
    result.alreadyComplete
      ? `size     ${formatBytes(result.bytes)}, already complete`
      : `size     ${transfer} (${formatRate(result.bytes / Math.max(result.seconds, 0.001))})`,
    ...(result.limitedBy === undefined ? [] : [`limit    ${describeLimit(result)}`]),
    `file     ${escapeForTerminal(result.path)}`,
  ];
}

function failLines(result: GetResult): readonly string[] {
  const message = escapeForTerminal(result.message ?? 'the file was not verified');
  const differ = result.expected !== undefined && result.expected !== result.sha256;
  return [
    `FAIL     ${escapeForTerminal(result.name)}: ${message} (${result.code ?? 'INTERNAL'})`,
    ...(differ ? [`expected ${escapeForTerminal(result.expected ?? '')}`] : []),
    ...(differ ? [`found    ${escapeForTerminal(result.sha256 ?? 'nothing that could be hashed')}`] : []),
    `size     ${formatBytes(result.bytes)}, ${formatBytes(result.bytesOnWire)} received in ${formatDuration(result.seconds)}`,
    ...(result.partial === undefined
      ? []
      : [`partial  ${escapeForTerminal(result.partial)}; the same command goes on from there`]),
    ...(result.suggestions ?? []).map((line) => `  ${escapeForTerminal(line)}`),
  ];
}

/** `the digest, 92.0 % of the time`. */
function describeLimit({ limitedBy, share = 0, serverLimit }: GetResult): string {
  const own =
    serverLimit === undefined ? '' : ` (its ${serverLimit === 'rate' ? 'rate limit' : serverLimit})`;
  return `the ${limitedBy}${own}, ${formatPercent(share, 1)} of the time`;
}
