import type { Codec } from 'wirebound';
import { frameContentSize } from './frame-content-size.js';
import type { ZstdEngine } from './zstd-engine.js';

/** The codec `zstd` over an engine: one Zstandard frame (RFC 8878) per chunk, which says how large the chunk is. */
export function createCodec(engine: ZstdEngine): Codec {
  return {
    name: 'zstd',
    encode: (chunk) => engine.compress(chunk),
    decode(payload, rawLength) {
      // Engines allocate what a frame says, so it has to be right before they see it.
      const size = frameContentSize(payload);
      if (size !== rawLength) throw new Error(`its frame says ${size} bytes`);
      return engine.decompress(payload, rawLength);
    },
  };
}
