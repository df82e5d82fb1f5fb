import { compress, uncompressSync } from 'lz4-napi';
import type { Codec } from '../../core/codec/codec.js';
import { definePlugin } from '../../core/plugin/plugin.js';

/** lz4-napi puts the raw size (u32, little endian) in front of a block and trusts it when it decodes. */
const SIZE_PREFIX = 4;

let scratch = Buffer.alloc(0);

/** The payload behind the size we expect, so that no number from a peer decides an allocation. */
function withSizePrefix(payload: Uint8Array, rawLength: number): Uint8Array {
  const length = SIZE_PREFIX + payload.length;
  if (scratch.length < length) scratch = Buffer.alloc(length);
  scratch.writeUInt32LE(rawLength);
  scratch.set(payload, SIZE_PREFIX);
  return scratch.subarray(0, length);
}

/** One LZ4 block per chunk (lz4_Block_format.md of lz4/lz4), without any length in front. */
const lz4: Codec = {
  name: 'lz4',
  encode: async (chunk) => (await compress(chunk)).subarray(SIZE_PREFIX),
  decode(payload, rawLength) {
    const chunk = uncompressSync(withSizePrefix(payload, rawLength));
    if (chunk.length !== rawLength) throw new Error(`the payload holds ${chunk.length} bytes`);
    return chunk;
  },
};

export default definePlugin({ name: 'lz4', codecs: [lz4] });
