import { promisify } from 'node:util';
import { deflateRaw, inflateRawSync } from 'node:zlib';
import type { Codec } from '../../core/codec/codec.js';
import { definePlugin } from '../../core/plugin/plugin.js';

const deflateRawAsync = promisify(deflateRaw);

/** A raw DEFLATE stream (RFC 1951, no zlib or gzip header) per chunk: what browsers can decode too. */
const deflate: Codec = {
  name: 'deflate',
  encode: (chunk) => deflateRawAsync(chunk, { level: 1 }),
  decode(payload, rawLength) {
    // One output buffer with a byte to spare: zlib would start a second one as soon as the first is full.
    const chunkSize = Math.max(64, rawLength + 1);
    const chunk = inflateRawSync(payload, { maxOutputLength: rawLength, chunkSize });
    if (chunk.length !== rawLength) throw new Error(`the payload holds ${chunk.length} bytes`);
    return chunk;
  },
};

export default definePlugin({ name: 'deflate', codecs: [deflate] });
