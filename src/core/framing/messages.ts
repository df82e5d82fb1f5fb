import { type ErrorCode, isErrorCode, WireBoundError } from '../errors.js';
import { escapeForTerminal } from '../escape.js';
import { DIGEST_LENGTH, MAX_ASK, PAYLOAD_LIMITS } from './frame.js';
import {
  optionalText,
  parseJson,
  requireArray,
  requireBoolean,
  requireText,
  showValue,
} from './json-fields.js';

/** What a client says first. */
export interface Hello {
  /** Program and version, for people. */
  readonly agent: string;
  /** Names of the codecs it can decode. */
  readonly codecs: readonly string[];
  /** One `get`, however often it reconnects: 32 hex digits. */
  readonly run: string;
}

/** Why a client asks for chunks. */
export type GetReason = 'first' | 'lost' | 'mismatch' | 'codec' | 'protocol';
const GET_REASONS: readonly GetReason[] = ['first', 'lost', 'mismatch', 'codec', 'protocol'];

/** A request for `count` chunks from `first` on; `first` = the number of chunks asks for End alone. */
export interface Get {
  readonly first: number;
  readonly count: number;
  readonly reason: GetReason;
}

/** The prefix digests that were known when an Ask arrived. */
export interface Digests {
  readonly frontier: number;
  readonly digests: ReadonlyMap<number, Uint8Array>;
}

/** What can keep a transfer from being faster. */
export const LIMITS = ['network', 'server', 'codec', 'digest', 'disk'] as const;
export type Limit = (typeof LIMITS)[number];

/** How a client's run ended. */
export interface Verdict {
  readonly verified: boolean;
  /** What limited the transfer, and the share of its time (0 to 1) behind that. */
  readonly limitedBy?: Limit;
  readonly share?: number;
  readonly code?: ErrorCode;
  readonly message?: string;
}

/** What an Error frame says. */
export interface PeerError {
  /** INTERNAL stands for codes this program does not know. */
  readonly code: ErrorCode;
  readonly message: string;
}

/** How a client is doing; times and bytes count from the start of its connection. */
export interface ClientKeepalive {
  /** Bytes of the connection that the client has taken in. */
  readonly received: number;
  /** When it said so, on its own clock, microseconds. */
  readonly elapsedUs: number;
  /** How long its digest thread had nothing to do for want of bytes, microseconds. */
  readonly starvedUs: number;
  /** Raw KiB/s that it hashes; 0 before it has hashed anything. */
  readonly digestRate: number;
  /** Raw KiB/s that it decodes; 0 before it has decoded anything. */
  readonly decodeRate: number;
}

/** What a server has been waiting for while it answered a Get, milliseconds; End carries it. */
export interface ServerWaits {
  readonly sourceMs: number;
  readonly digestMs: number;
  readonly codecMs: number;
  /** For its own rate limit. */
  readonly rateMs: number;
  /** For the network and the client behind it. */
  readonly networkMs: number;
}

const MAX_MESSAGE = 1000;

export function encodeHello(hello: Hello): Uint8Array {
  return Buffer.from(JSON.stringify(hello));
}

export function parseHello(content: Uint8Array): Hello {
  const fields = parseJson(content, 'hello');
  const run = requireText(fields, 'run', 32);
  if (!/^[0-9a-f]{32}$/.test(run)) {
    throw new WireBoundError('PROTOCOL', `hello: run is ${showValue(run)}, not 32 lower-case hex digits`);
  }
  return {
    agent: requireText(fields, 'agent', 100),
    codecs: requireArray(fields, 'codecs', 64, codecName),
    run,
  };
}

export function encodeAsk(indexes: readonly number[]): Uint8Array {
  const content = Buffer.allocUnsafe(4 * indexes.length);
  indexes.forEach((index, at) => {
    content.writeUInt32BE(index, 4 * at);
  });
  return content;
}

/** The chunk indexes asked about; `count` is how many chunks the file has. */
export function parseAsk(content: Uint8Array, count: number): readonly number[] {
  const view = dataView(content);
  if (content.length === 0 || content.length % 4 !== 0 || content.length / 4 > MAX_ASK) {
    throw new WireBoundError(
      'PROTOCOL',
      `ask: ${content.length} bytes are not 1 to ${MAX_ASK} chunk indexes`,
    );
  }
  return Array.from({ length: content.length / 4 }, (_, at) =>
    checkIndex(view.getUint32(4 * at), count, 'ask'),
  );
}

export function encodeDigests(frontier: number, digests: ReadonlyMap<number, Uint8Array>): Uint8Array {
  const record = 4 + DIGEST_LENGTH;
  const content = Buffer.allocUnsafe(4 + record * digests.size);
  let at = content.writeUInt32BE(frontier, 0);
  for (const [index, digest] of digests) {
    content.writeUInt32BE(index, at);
    content.set(digest, at + 4);
    at += record;
  }
  return content;
}

export function parseDigests(content: Uint8Array, count: number): Digests {
  const record = 4 + DIGEST_LENGTH;
  if (content.length < 4 || (content.length - 4) % record !== 0) {
    throw new WireBoundError('PROTOCOL', `digests: ${content.length} bytes are not a list of digests`);
  }
  const view = dataView(content);
  const frontier = view.getUint32(0);
  if (frontier > count)
    throw new WireBoundError('PROTOCOL', `digests: frontier ${frontier} of ${count} chunks`);
  const digests = new Map<number, Uint8Array>();
  for (let at = 4; at < content.length; at += record) {
    const index = checkIndex(view.getUint32(at), count, 'digests');
    if (index >= frontier) {
      throw new WireBoundError('PROTOCOL', `digests: chunk ${index} lies beyond the frontier ${frontier}`);
    }
    digests.set(index, Uint8Array.from(content.subarray(at + 4, at + record)));
  }
  return { frontier, digests };
}

export function encodeGet(get: Get): Uint8Array {
  const content = Buffer.allocUnsafe(9);
  content.writeUInt32BE(get.first, 0);
  content.writeUInt32BE(get.count, 4);
  content.writeUInt8(GET_REASONS.indexOf(get.reason), 8);
  return content;
}

export function parseGet(content: Uint8Array, count: number): Get {
  checkLength(content, PAYLOAD_LIMITS.get, 'get');
  const view = dataView(content);
  const [first, length, reason] = [view.getUint32(0), view.getUint32(4), GET_REASONS[view.getUint8(8)]];
  if (first > count || length > count - first) {
    throw new WireBoundError('PROTOCOL', `get: ${length} chunks from ${first} on, the file has ${count}`);
  }
  if (reason === undefined) throw new WireBoundError('PROTOCOL', `get: unknown reason ${view.getUint8(8)}`);
  return { first, count: length, reason };
}

export function encodeVerdict(verdict: Verdict): Uint8Array {
  const message = verdict.message === undefined ? {} : { message: shorten(verdict.message) };
  return Buffer.from(JSON.stringify({ ...verdict, ...message }));
}

export function parseVerdict(content: Uint8Array): Verdict {
  const fields = parseJson(content, 'verdict');
  const code = optionalText(fields, 'code', 40);
  const message = optionalText(fields, 'message', MAX_MESSAGE);
  const limit = LIMITS.find((name) => name === fields.values.get('limitedBy'));
  const share = fields.values.get('share');
  return {
    verified: requireBoolean(fields, 'verified'),
    ...(limit === undefined ? {} : { limitedBy: limit }),
    ...(typeof share === 'number' && share >= 0 && share <= 1 ? { share } : {}),
    ...(code === undefined ? {} : { code: isErrorCode(code) ? code : 'INTERNAL' }),
    ...(message === undefined ? {} : { message }),
  };
}

export function encodeError(error: { readonly code: ErrorCode; readonly message: string }): Uint8Array {
  return Buffer.from(JSON.stringify({ code: error.code, message: shorten(error.message) }));
}

export function parseError(content: Uint8Array): PeerError {
  const fields = parseJson(content, 'error');
  const code = requireText(fields, 'code', 40);
  return {
    code: isErrorCode(code) ? code : 'INTERNAL',
    message: requireText(fields, 'message', MAX_MESSAGE),
  };
}

/** A server's keepalive: its frontier. */
export function encodeFrontier(frontier: number): Uint8Array {
  const content = Buffer.allocUnsafe(4);
  content.writeUInt32BE(frontier, 0);
  return content;
}

export function encodeClientKeepalive(keepalive: ClientKeepalive): Uint8Array {
  const content = Buffer.allocUnsafe(PAYLOAD_LIMITS.keepalive);
  content.writeBigUInt64BE(BigInt(keepalive.received), 0);
  content.writeBigUInt64BE(BigInt(Math.round(keepalive.elapsedUs)), 8);
  content.writeBigUInt64BE(BigInt(Math.round(keepalive.starvedUs)), 16);
  content.writeUInt32BE(clampU32(keepalive.digestRate), 24);
  content.writeUInt32BE(clampU32(keepalive.decodeRate), 28);
  return content;
}

export function parseClientKeepalive(content: Uint8Array): ClientKeepalive {
  checkLength(content, PAYLOAD_LIMITS.keepalive, 'keepalive');
  const view = dataView(content);
  const [received, elapsedUs, starvedUs] = [0, 8, 16].map((at) => {
    const value = view.getBigUint64(at);
    if (value <= BigInt(Number.MAX_SAFE_INTEGER)) return Number(value);
    throw new WireBoundError('PROTOCOL', `keepalive: ${value} is not a possible count`);
  }) as [number, number, number];
  return { received, elapsedUs, starvedUs, digestRate: view.getUint32(24), decodeRate: view.getUint32(28) };
}

const WAITS = ['sourceMs', 'digestMs', 'codecMs', 'rateMs', 'networkMs'] as const;

export function encodeEnd(waits: ServerWaits): Uint8Array {
  const content = Buffer.allocUnsafe(PAYLOAD_LIMITS.end);
  WAITS.forEach((name, at) => {
    content.writeUInt32BE(clampU32(waits[name]), 4 * at);
  });
  return content;
}

export function parseEnd(content: Uint8Array): ServerWaits {
  checkLength(content, PAYLOAD_LIMITS.end, 'end');
  const view = dataView(content);
  const [sourceMs = 0, digestMs = 0, codecMs = 0, rateMs = 0, networkMs = 0] = WAITS.map((_, at) =>
    view.getUint32(4 * at),
  );
  return { sourceMs, digestMs, codecMs, rateMs, networkMs };
}

function checkLength(content: Uint8Array, length: number, where: string): void {
  if (content.length === length) return;
  throw new WireBoundError('PROTOCOL', `${where}: ${content.length} bytes instead of ${length}`);
}

function clampU32(value: number): number {
  return Math.min(Math.max(0, Math.round(value)), 0xffff_ffff);
}

function codecName(value: unknown): string {
  if (typeof value !== 'string' || !/^[a-z0-9][a-z0-9-]{0,31}$/.test(value)) {
    throw new WireBoundError(
      'PROTOCOL',
      `hello: codec name ${showValue(value)} is not 1 to 32 lower-case letters, digits and "-"`,
    );
  }
  return value;
}

/** A message that fits into its frame whatever is in it: escaped, no character takes more than 3 bytes. */
function shorten(message: string): string {
  return escapeForTerminal(message).slice(0, MAX_MESSAGE);
}

function checkIndex(index: number, count: number, where: string): number {
  if (index >= count) throw new WireBoundError('PROTOCOL', `${where}: chunk ${index}, the file has ${count}`);
  return index;
}

function dataView(content: Uint8Array): DataView {
  return new DataView(content.buffer, content.byteOffset, content.length);
}
