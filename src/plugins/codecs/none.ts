import type { Codec } from '../../core/codec/codec.js';
import { definePlugin } from '../../core/plugin/plugin.js';

/**
 * Bytes as they are. It copies, because a codec's output is the host's own; the host never calls it for a
 * transfer, since a chunk that does not shrink travels raw.
 */
const none: Codec = {
  name: 'none',
  encode: (chunk) => new Uint8Array(chunk),
  decode: (payload) => new Uint8Array(payload),
};

export default definePlugin({ name: 'none', codecs: [none] });
