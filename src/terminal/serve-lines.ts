import { escapeForTerminal } from '../core/escape.js';
import type { CodecInUse, ListenAddress, ServeEvent, ServeSummary } from '../core/server/serve-event.js';
import { formatBytes, formatDuration, formatPercent, formatRate } from '../core/units.js';
import { formatEta } from './describe-progress.js';
import { plural } from './plural.js';

const DEFAULT_PORT = 6767;

type EventOf<Name extends ServeEvent['event']> = Extract<ServeEvent, { event: Name }>;

/** What one event of a server says to a person: lines that stay, none for events that only advance. */
export function describeServeEvent(event: ServeEvent): readonly string[] {
  switch (event.event) {
    case 'listening':
      return listeningLines(event);
    case 'digest':
      return [`SHA-256  ${event.sha256}${event.cached ? '  (from cache)' : ''}`];
    case 'client.connected':
      return [`${client(event)}  connected  (${escapeForTerminal(event.agent)})`];
    case 'client.finished':
      return [finishedLine(event)];
    case 'warning':
      return [`warning: ${escapeForTerminal(event.message)}`];
    case 'draining':
      return [drainingLine(event)];
    case 'summary':
      return summaryLines(event);
    default:
      return [];
  }
}

/** The line that fetches the file through `address`, ready to be pasted into any shell. */
export function getCommand({ address, family }: ListenAddress, port: number): string {
  if (port === DEFAULT_PORT) return `wirebound get ${address}`;
  // Some shells take unquoted brackets for a file name pattern.
  return `wirebound get ${family === 6 ? `"[${address}]:${port}"` : `${address}:${port}`}`;
}

function listeningLines(event: EventOf<'listening'>): readonly string[] {
  const commands = event.addresses.map(
    (address) => [getCommand(address, event.port), remark(address)] as const,
  );
  const width = Math.max(0, ...commands.map(([command]) => command.length));
  return [
    `serving  ${escapeForTerminal(event.name)}: ${formatBytes(event.size)} in ${plural(event.chunks, 'chunk')} of ${formatBytes(event.chunkSize)}`,
    `source   ${escapeForTerminal(event.source)}`,
    `codec    ${escapeForTerminal(event.codec)}`,
    `Anyone who reaches port ${event.port} can fetch this file. On the other machines, run one of:`,
    ...commands.map(([command, note]) => `  ${command.padEnd(width)}  (${note})`),
  ];
}

function remark({ interface: name, internal }: ListenAddress): string {
  const shown = escapeForTerminal(name === '' ? 'this address' : name);
  return internal ? `${shown}, this machine only` : shown;
}

function finishedLine(event: EventOf<'client.finished'>): string {
  if (event.verified) {
    const rate = formatRate(event.bytes / Math.max(event.seconds, 0.001));
    const limit = event.limitedBy === undefined ? '' : `, limited by the ${event.limitedBy}`;
    return `${client(event)}  verified  ${formatBytes(event.bytes)} in ${formatDuration(event.seconds)} (${rate}${describeCodec(event)}${limit})`;
  }
  const code = event.code === undefined ? '' : ` (${escapeForTerminal(event.code)})`;
  const message = escapeForTerminal(event.message ?? 'it went away without a verdict');
  return `${client(event)}  NOT verified after ${formatBytes(event.bytes)}: ${message}${code}`;
}

/** What a client's chunks are sent with and, where that was chosen, why; nothing for `none`. */
export function describeCodec({ codec, linkRate, crowded }: Partial<CodecInUse>): string {
  if (codec === undefined || codec === 'none') return '';
  const link = linkRate === undefined ? '' : ` for a link of ${formatRate(linkRate)}`;
  return `, ${escapeForTerminal(codec)}${crowded === true ? ' as processors are short' : link}`;
}

function client(event: { readonly client: number; readonly address: string }): string {
  return `client ${event.client}  ${escapeForTerminal(event.address)}`;
}

function drainingLine({ transfers, etaSeconds }: EventOf<'draining'>): string {
  if (transfers === 0) return 'stopping: no transfer is active';
  const eta = etaSeconds === undefined ? '' : `, the slowest in about ${formatEta(etaSeconds)}`;
  return `stopping: no new clients, waiting for ${plural(transfers, 'transfer')}${eta}; Ctrl+C again stops now`;
}

function summaryLines(summary: ServeSummary): readonly string[] {
  const { bytesSent, bytesOnWire, limitedBy } = summary;
  const rate = formatRate(summary.activeSeconds > 0 ? bytesSent / summary.activeSeconds : 0);
  const limit = limitedBy === undefined ? '' : `, limited by the ${limitedBy}`;
  const { bytesFromSource } = summary;
  const share = formatPercent(bytesFromSource, summary.size);
  const fetched =
    bytesFromSource > 0
      ? [`fetched  ${formatBytes(bytesFromSource)} from the source (${share} of the file)`]
      : [];
  return [
    `served   ${escapeForTerminal(summary.name)}: ${formatBytes(summary.size)} in chunks of ${formatBytes(summary.chunkSize)}, ${formatDuration(summary.seconds)} in all`,
    `clients  ${summary.verified} verified, ${summary.failed} failed (${plural(summary.connections, 'connection')})`,
    `sent     ${formatBytes(bytesSent)} of file content in ${formatDuration(summary.activeSeconds)} of transfers (${rate}${limit})`,
    `wire     ${formatBytes(bytesOnWire)} (codec ${escapeForTerminal(summary.codec)}${describeRatio(summary)})`,
    `storage  ${describeStorage(summary)}`,
    ...fetched,
    `memory   ${formatBytes(summary.peakMemory)} at most, mapped pages of the file included`,
  ];
}

function describeRatio(summary: ServeSummary): string {
  const { codec, bytesSent, payloadBytes, chunksEncoded, chunksRaw } = summary;
  if (codec === 'none' || payloadBytes === 0) return '';
  if (chunksEncoded === 0) return ': no chunk encoded';
  const ratio = `${(bytesSent / payloadBytes).toFixed(2)} times smaller`;
  const saved = `${formatBytes(bytesSent - payloadBytes)} saved`;
  return `: ${ratio}, ${saved}; ${plural(chunksEncoded, 'chunk')} encoded, ${chunksRaw} raw`;
}

/** Reads that the page cache answered are none: a file that was just written often costs no reading at all. */
function describeStorage({ bytesFromStorage, bytesSent, size }: ServeSummary): string {
  const sent = formatBytes(bytesSent);
  if (bytesFromStorage === 0) return bytesSent === 0 ? '0 B read' : `0 B read: all ${sent} came from memory`;
  return `${formatBytes(bytesFromStorage)} read (${formatPercent(bytesFromStorage, size)} of the file) for ${sent} sent`;
}
