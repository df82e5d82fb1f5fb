import type { ErrorCode } from '#dist/core/errors.js';
import type { FrameType } from '#dist/core/framing/frame.js';

/** What a decoder made of a stream: whole frames, and the error that ended it, if one did. */
export interface DecodedStream {
  readonly frames: readonly DecodedFrame[];
  readonly error?: ErrorCode;
}

export interface DecodedFrame {
  readonly type: FrameType;
  readonly codec: number;
  readonly entry: number;
  readonly content: Buffer;
}

/** Deliberately written out again: a wrong constant in the product must not be its own witness. */
const TYPES: readonly (FrameType | undefined)[] = [
  undefined,
  'hello',
  'manifest',
  'ask',
  'digests',
  'get',
  'chunk',
  'end',
  'verdict',
  'error',
  'keepalive',
];

/**
 * The frame decoder's twin: has all bytes in one piece, knows nothing of memory or sockets, and parses from the
 * start. `limit` is what `FrameRules.limit` is.
 */
export function decodeNaively(bytes: Buffer, limit: (type: FrameType) => number | undefined): DecodedStream {
  const magic = Buffer.from('d75769726542', 'hex');
  const seen = bytes.subarray(0, magic.length);
  if (!seen.equals(magic.subarray(0, seen.length))) return { frames: [], error: 'NOT_WIREBOUND' };
  if (bytes.length < 8) return { frames: [] };
  if (bytes.readUInt16BE(6) !== 1) return { frames: [], error: 'VERSION_MISMATCH' };
  const frames: DecodedFrame[] = [];
  for (let at = 8; at + 8 <= bytes.length; ) {
    const type = TYPES[bytes[at] ?? 0];
    const most = type && limit(type);
    const length = bytes.readUInt32BE(at + 4);
    if (type === undefined || most === undefined || length > most) return { frames, error: 'PROTOCOL' };
    const start = at + 8;
    const end = start + (type === 'chunk' ? 36 : 0) + length;
    if (end > bytes.length) break;
    const content = bytes.subarray(start, end);
    frames.push({ type, codec: bytes.readUInt8(at + 1), entry: bytes.readUInt16BE(at + 2), content });
    at = end;
  }
  return { frames };
}
