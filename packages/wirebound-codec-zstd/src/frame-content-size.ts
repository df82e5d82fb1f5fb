const MAGIC = 0xfd2fb528;

/**
 * The size that a Zstandard frame says it has, without decoding it (RFC 8878, section 3.1.1.1). Throws for a payload
 * that does not begin with a frame, or whose frame does not say.
 */
export function frameContentSize(payload: Uint8Array): number {
  const view = new DataView(payload.buffer, payload.byteOffset, payload.byteLength);
  if (payload.length < 6 || view.getUint32(0, true) !== MAGIC) throw new Error('it is not a zstd frame');
  const descriptor = view.getUint8(4);
  const singleSegment = (descriptor & 0x20) !== 0;
  const windowLength = singleSegment ? 0 : 1;
  const dictionaryLength = [0, 1, 2, 4][descriptor & 3] as number;
  const at = 5 + windowLength + dictionaryLength;
  const sizeFlag = descriptor >> 6;
  if (sizeFlag === 0 && !singleSegment) throw new Error('its frame does not say how large it is');
  const length = [1, 2, 4, 8][sizeFlag] as number;
  if (at + length > payload.length) throw new Error('its frame header is cut');
  if (length === 1) return view.getUint8(at);
  if (length === 2) return view.getUint16(at, true) + 256;
  return length === 4 ? view.getUint32(at, true) : Number(view.getBigUint64(at, true));
}
