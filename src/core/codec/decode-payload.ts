import { isUint8Array } from 'node:util/types';
import { causeLine } from '../cause-line.js';
import { WireBoundError } from '../errors.js';
import { answerInTime, CODEC_DEADLINE_MS, isPromised } from './answer-in-time.js';
import type { Codec } from './codec.js';

/**
 * Decodes one payload into `chunk`, which must come out full; `chunk` may overlap the payload. Done on return when the
 * codec is synchronous (it runs in the digest thread's loop). Throws or rejects with CODEC_FAILED when the codec refuses
 * the payload, returns anything else than that many bytes, or does not answer within `deadlineMs`.
 */
export function decodePayload(
  codec: Codec,
  payload: Uint8Array,
  chunk: Uint8Array,
  deadlineMs = CODEC_DEADLINE_MS,
): void | Promise<void> {
  const refuse = (reason: string, cause?: unknown): never => {
    const what = `${codec.name} could not decode ${payload.length} bytes into a chunk of ${chunk.length}`;
    throw new WireBoundError('CODEC_FAILED', `${what}: ${reason}`, { cause });
  };
  // At once: the codec may use the memory of its result again in the next call.
  const take = (result: unknown): void => {
    const bytes = isUint8Array(result) ? result : refuse('it did not return a Uint8Array');
    if (bytes.length !== chunk.length) refuse(`it returned ${bytes.length} bytes`);
    chunk.set(bytes);
  };
  const fail = (error: unknown): never => refuse(causeLine(error), error);

  let result: unknown;
  try {
    result = codec.decode(payload, chunk.length);
  } catch (error) {
    return fail(error);
  }
  return isPromised(result) ? answerInTime(result, deadlineMs).then(take, fail) : take(result);
}
