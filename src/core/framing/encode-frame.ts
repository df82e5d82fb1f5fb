import {
  CHUNK_FIELDS_LENGTH,
  FRAME,
  type FrameType,
  HEADER_LENGTH,
  MAGIC,
  PREAMBLE_LENGTH,
  PROTOCOL_VERSION,
} from './frame.js';

/** The eight bytes each side sends first. */
export function encodePreamble(version: number = PROTOCOL_VERSION): Buffer {
  const preamble = Buffer.alloc(PREAMBLE_LENGTH);
  preamble.set(MAGIC, 0);
  preamble.writeUInt16BE(version, MAGIC.length);
  return preamble;
}

/** A whole frame of any type but Chunk. The payload is copied. */
export function encodeFrame(type: Exclude<FrameType, 'chunk'>, payload: Uint8Array, entry = 0): Buffer {
  const frame = Buffer.allocUnsafe(HEADER_LENGTH + payload.length);
  writeHeader(frame, type, 0, entry, payload.length);
  frame.set(payload, HEADER_LENGTH);
  return frame;
}

/** What stands in front of a chunk's payload: header and chunk fields, 44 bytes. */
export function encodeChunkHeader(
  codec: number,
  entry: number,
  index: number,
  payloadLength: number,
  prefixDigest: Uint8Array,
): Buffer {
  const header = Buffer.allocUnsafe(HEADER_LENGTH + CHUNK_FIELDS_LENGTH);
  writeHeader(header, 'chunk', codec, entry, payloadLength);
  header.writeUInt32BE(index, HEADER_LENGTH);
  header.set(prefixDigest, HEADER_LENGTH + 4);
  return header;
}

function writeHeader(into: Buffer, type: FrameType, codec: number, entry: number, length: number): void {
  into.writeUInt8(FRAME[type], 0);
  into.writeUInt8(codec, 1);
  into.writeUInt16BE(entry, 2);
  into.writeUInt32BE(length, 4);
}
