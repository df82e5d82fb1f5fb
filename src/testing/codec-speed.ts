import type { Codec } from '../core/codec/codec.js';
import { randomBytes, textBytes } from './codec-samples.js';

const CHUNK = 256 * 1024;
/** Long enough for a steady figure, milliseconds. */
const LEAST_MS = 150;

/** How fast a codec is with one kind of content. */
export interface CodecFigures {
  readonly content: 'log text' | 'random bytes';
  /** Bytes of chunk per second; undefined where the codec refuses the content. */
  readonly encodeRate?: number;
  readonly decodeRate?: number;
  /** The same as parts of what `none` (a copy) makes on this machine. */
  readonly encodeShare?: number;
  readonly decodeShare?: number;
  /** Payload bytes per chunk byte. */
  readonly ratio?: number;
}

/** Measures a codec on this machine, with chunks of 256 KiB. The figures judge nothing: there is no floor. */
export async function measureCodec(codec: Codec): Promise<readonly CodecFigures[]> {
  const contents = [
    ['log text', textBytes(CHUNK)],
    ['random bytes', randomBytes(CHUNK, 1)],
  ] as const;
  const figures: CodecFigures[] = [];
  for (const [content, chunk] of contents) {
    const payload = await Promise.resolve()
      .then(() => codec.encode(new Uint8Array(chunk)))
      .catch(() => new Uint8Array(0));
    if (payload.length === 0) {
      figures.push({ content });
      continue;
    }
    const floor = await rate(() => new Uint8Array(chunk));
    const encodeRate = await rate(() => codec.encode(chunk));
    const decodeRate = await rate(() => codec.decode(payload, CHUNK));
    figures.push({
      content,
      encodeRate,
      decodeRate,
      encodeShare: encodeRate / floor,
      decodeShare: decodeRate / floor,
      ratio: payload.length / CHUNK,
    });
  }
  return figures;
}

/** Chunk bytes per second. */
async function rate(call: () => unknown): Promise<number> {
  await call();
  const startedAt = performance.now();
  let calls = 0;
  let elapsed = 0;
  for (; elapsed < LEAST_MS; elapsed = performance.now() - startedAt, calls++) await call();
  return (calls * CHUNK) / (elapsed / 1000);
}
