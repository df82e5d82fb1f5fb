import { isUint8Array } from 'node:util/types';
import { causeLine } from '../cause-line.js';
import { WireBoundError } from '../errors.js';
import { answerInTime, CODEC_DEADLINE_MS, isPromised, NoAnswer } from './answer-in-time.js';
import type { Codec } from './codec.js';

/** A chunk as it will travel: encoded (`bytes`, shorter than the chunk), or raw. */
export type EncodedChunk =
  | { readonly encoded: true; readonly bytes: Uint8Array }
  /**
   * `failure` (CODEC_FAILED) is there when the codec broke its contract, so that it can be told once. With
   * `unanswered` it may still be reading the chunk, whose memory must not be used again.
   */
  | { readonly encoded: false; readonly failure?: WireBoundError; readonly unanswered?: true };

/** How much longer than its chunk a payload may be that does not shrink: more than any compressor adds to random data. */
const mostPayload = (rawLength: number) => rawLength + rawLength / 4 + 1024;

/**
 * Encodes one chunk, never empty, or decides that it goes raw: the only place of the raw fallback. Raw is what
 * does not shrink (an empty result says "not this one"), and what a codec fails at, or does not finish within
 * `deadlineMs`. Somewhat longer than the chunk is what random data become under most codecs; more than a quarter
 * and 1 KiB longer is a failure. Never rejects.
 *
 * Nothing is copied: `bytes` is what the codec returned. A result inside the chunk's own memory is a failure,
 * because the caller re-uses that memory while the payload may still be waiting to be sent.
 */
export async function encodeChunk(
  codec: Codec,
  chunk: Uint8Array,
  deadlineMs = CODEC_DEADLINE_MS,
): Promise<EncodedChunk> {
  let bytes: unknown;
  try {
    const result: unknown = codec.encode(chunk);
    bytes = isPromised(result) ? await answerInTime(result, deadlineMs) : result;
  } catch (error) {
    const failure = failed(codec, chunk, causeLine(error), error);
    return error instanceof NoAnswer ? { ...failure, unanswered: true } : failure;
  }
  if (!isUint8Array(bytes)) return failed(codec, chunk, 'it did not return a Uint8Array');
  if (bytes.length > mostPayload(chunk.length))
    return failed(codec, chunk, `it returned ${bytes.length} bytes`);
  if (bytes.length === 0 || bytes.length >= chunk.length) return { encoded: false };
  if (overlaps(bytes, chunk)) return failed(codec, chunk, 'it returned a view of its input');
  return { encoded: true, bytes };
}

function failed(codec: Codec, chunk: Uint8Array, reason: string, cause?: unknown) {
  const message = `${codec.name} could not encode a chunk of ${chunk.length} bytes: ${reason}`;
  return { encoded: false, failure: new WireBoundError('CODEC_FAILED', message, { cause }) } as const;
}

function overlaps(a: Uint8Array, b: Uint8Array): boolean {
  const inOrder = a.byteOffset < b.byteOffset + b.length && b.byteOffset < a.byteOffset + a.length;
  return a.buffer === b.buffer && inOrder;
}
