import { WireBoundError } from '#dist/core/errors.js';
import type { FrameType } from '#dist/core/framing/frame.js';
import { FrameDecoder, type FrameRules } from '#dist/core/framing/frame-decoder.js';
import type { DecodedFrame, DecodedStream } from './naive-decoder.js';

/**
 * Gives `bytes` to a decoder as a socket would: never more than its target takes, and never across one of the
 * `cuts` (offsets, ascending). Throws what the decoder throws.
 */
export function feedDecoder(decoder: FrameDecoder, bytes: Uint8Array, cuts: readonly number[] = []): void {
  let next = 0;
  for (let at = 0; at < bytes.length; ) {
    while ((cuts[next] ?? bytes.length) <= at) next++;
    const end = Math.min(bytes.length, cuts[next] ?? bytes.length, at + decoder.target.length);
    decoder.target.set(bytes.subarray(at, end));
    decoder.accept(end - at);
    at = end;
  }
}

/** Runs bytes through the real decoder; anything but a WireBoundError comes out as it is. */
export function decodeFrames(
  bytes: Uint8Array,
  limit: (type: FrameType) => number | undefined,
  cuts: readonly number[] = [],
  place?: FrameRules['place'],
): DecodedStream {
  const frames: DecodedFrame[] = [];
  const decoder = new FrameDecoder({
    limit,
    ...(place === undefined ? {} : { place }),
    receive: ({ header: { type, codec, entry }, content }) => {
      frames.push({ type, codec, entry, content: Buffer.from(content) });
    },
  });
  try {
    feedDecoder(decoder, bytes, cuts);
    return { frames };
  } catch (error) {
    if (error instanceof WireBoundError) return { frames, error: error.code };
    throw error;
  }
}
