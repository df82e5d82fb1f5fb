import { isUint8Array } from 'node:util/types';
import { causeLine } from '../cause-line.js';
import { WireBoundError } from '../errors.js';
import { answerInTime, CODEC_DEADLINE_MS, isPromised } from './answer-in-time.js';
import type { Codec } from './codec.js';

/**
 * Decodes one payload into exactly `rawLength` bytes, which the caller owns. Synchronous when the codec is
 * (it runs in the digest thread's loop). Throws or rejects with CODEC_FAILED when the codec refuses the payload,
 * returns anything else than that many bytes, or does not answer within `deadlineMs`.
 */
export function decodePayload(
  codec: Codec,
  payload: Uint8Array,
  rawLength: number,
  deadlineMs = CODEC_DEADLINE_MS,
): Uint8Array | Promise<Uint8Array> {
  const refuse = (reason: string, cause?: unknown): never => {
    const what = `${codec.name} could not decode ${payload.length} bytes into a chunk of ${rawLength}`;
    throw new WireBoundError('CODEC_FAILED', `${what}: ${reason}`, { cause });
  };
  const check = (chunk: unknown): Uint8Array => {
    if (!isUint8Array(chunk)) return refuse('it did not return a Uint8Array');
    if (chunk.length !== rawLength) return refuse(`it returned ${chunk.length} bytes`);
    return chunk;
  };
  const fail = (error: unknown): never => refuse(causeLine(error), error);

  let result: unknown;
  try {
    result = codec.decode(payload, rawLength);
  } catch (error) {
    return fail(error);
  }
  return isPromised(result) ? answerInTime(result, deadlineMs).then(check, fail) : check(result);
}
