/**
 * The layout of everything on the wire; docs/protocol.md says the same in words. Numbers are big-endian.
 *
 *     preamble, once each way:  magic 6 | version u16
 *     frame header:             type u8 | codec u8 | entry u16 | length u32      (length of what follows, see below)
 *     chunk fields:             index u32 | prefix digest 32                     (after a Chunk header, before its payload)
 *
 * `length` counts the payload only: for a Chunk frame the 36 bytes of chunk fields come on top of it.
 */
export const MAGIC = Uint8Array.of(0xd7, 0x57, 0x69, 0x72, 0x65, 0x42);
export const PROTOCOL_VERSION = 1;
export const DEFAULT_PORT = 6767;

export const PREAMBLE_LENGTH = 8;
export const HEADER_LENGTH = 8;
export const DIGEST_LENGTH = 32;
export const CHUNK_FIELDS_LENGTH = 4 + DIGEST_LENGTH;

/** Frame types and their numbers. */
export const FRAME = {
  hello: 1,
  manifest: 2,
  ask: 3,
  digests: 4,
  get: 5,
  chunk: 6,
  end: 7,
  verdict: 8,
  error: 9,
  keepalive: 10,
} as const;

export type FrameType = keyof typeof FRAME;

/** A frame type by its number; numbers that mean nothing are absent. */
export const FRAME_TYPES: ReadonlyMap<number, FrameType> = new Map(
  (Object.keys(FRAME) as FrameType[]).map((type) => [FRAME[type], type]),
);

/** Chunk indexes in one Ask. */
export const MAX_ASK = 256;

/** The longest payload a receiver takes for each type, bytes; a Chunk's is bounded by its raw length instead. */
export const PAYLOAD_LIMITS: Readonly<Record<Exclude<FrameType, 'chunk'>, number>> = {
  hello: 16 * 1024,
  manifest: 64 * 1024,
  ask: 4 * MAX_ASK,
  digests: 4 + (4 + DIGEST_LENGTH) * MAX_ASK,
  get: 9,
  end: 20,
  verdict: 4 * 1024,
  error: 4 * 1024,
  keepalive: 40,
};

/** A parsed frame header. */
export interface FrameHeader {
  readonly type: FrameType;
  /** 0 is raw; otherwise a place in the manifest's list, counted from 1. Only Chunk frames use it. */
  readonly codec: number;
  readonly entry: number;
  /** Bytes of payload. */
  readonly length: number;
}

/** Bytes that follow the header: the payload, and a Chunk's fields in front of it. */
export function contentLength(header: FrameHeader): number {
  return header.type === 'chunk' ? CHUNK_FIELDS_LENGTH + header.length : header.length;
}
