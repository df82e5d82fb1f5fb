import type { Codec } from '#dist/core/codec/codec.js';
import { definePlugin, type Plugin } from '#dist/core/plugin/plugin.js';
import { content } from './content.js';

/** Keeps the first half of each chunk; right for content of {@link halfEmpty}. */
export const CUT: Codec = {
  name: 'cut',
  encode: (chunk) => chunk.slice(0, chunk.length / 2),
  decode: (payload, rawLength) => Buffer.concat([payload], rawLength),
};

/** A plugin of that codec, or of one that differs in `changed`. */
export function cutPlugin(changed: Partial<Codec> = {}): Plugin {
  return definePlugin({ name: 'cut', codecs: [{ ...CUT, ...changed }] });
}

/** Chunks of which the second half is zeros. */
export function halfEmpty(chunks: number, chunkSize: number): Buffer {
  const half = chunkSize / 2;
  return Buffer.concat(
    Array.from({ length: chunks }, (_, at) =>
      Buffer.concat([content('random', half, at), Buffer.alloc(half)]),
    ),
  );
}
