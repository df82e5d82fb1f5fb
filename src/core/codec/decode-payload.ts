import { isUint8Array } from 'node:util/types';
import { causeLine } from '../cause-line.js';
import { WireBoundError } from '../errors.js';
import type { Codec } from './codec.js';

/**
 * Decodes one payload into exactly `rawLength` bytes, which the caller owns. Synchronous when the codec is
 * (it runs in the digest thread's loop). Throws or rejects with CODEC_FAILED when the codec refuses the payload,
 * or returns anything else than that many bytes.
 */
export function decodePayload(
  codec: Codec,
  payload: Uint8Array,
  rawLength: number,
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
  return isThenable(result) ? Promise.resolve(result).then(check, fail) : check(result);
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof (value as { then?: unknown } | null | undefined)?.then === 'function';
}
