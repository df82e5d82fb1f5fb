import assert from 'node:assert/strict';
import { isUint8Array } from 'node:util/types';
import type { Codec } from '../core/codec/codec.js';
import { decodePayload } from '../core/codec/decode-payload.js';
import { WireBoundError } from '../core/errors.js';
import { assertSameBytes } from './assert-same-bytes.js';
import { textBytes } from './codec-samples.js';

/** What a codec is tried with. */
export interface CodecSubjectOptions {
  /**
   * Bytes of exactly this length that the codec does encode; others for another seed. Log-like text unless given, and
   * zeros where the codec refuses that.
   */
  readonly sample?: (length: number, seed: number) => Uint8Array;
}

/** The codec under test, called as the host calls it. */
export class CodecSubject {
  readonly #codec: Codec;
  readonly #samples: readonly ((length: number, seed: number) => Uint8Array)[];

  constructor(codec: Codec, { sample }: CodecSubjectOptions) {
    this.#codec = codec;
    this.#samples = sample === undefined ? [textBytes, (length) => new Uint8Array(length)] : [sample];
  }

  /** What the codec makes of a chunk; undefined where it refuses to encode it. */
  async encode(chunk: Uint8Array): Promise<Uint8Array | undefined> {
    let payload: unknown;
    try {
      payload = await this.#codec.encode(chunk);
    } catch {
      return undefined;
    }
    assert.ok(isUint8Array(payload), `encode returned a ${typeof payload} instead of a Uint8Array`);
    return payload.length === 0 ? undefined : payload;
  }

  /** A chunk of this length that the codec encodes, and its payload. */
  async sample(
    length: number,
    seed = 0,
  ): Promise<{ readonly chunk: Uint8Array; readonly payload: Uint8Array }> {
    for (const sample of this.#samples) {
      const chunk = sample(length, seed);
      const payload = await this.encode(new Uint8Array(chunk));
      if (payload !== undefined) return { chunk, payload };
    }
    throw new assert.AssertionError({
      message: `it refuses every sample of ${length} bytes: give it one that it encodes (option "sample")`,
    });
  }

  /** The chunk, or the refusal that the host makes of anything else than exactly `rawLength` bytes. */
  async decode(payload: Uint8Array, rawLength: number): Promise<Uint8Array> {
    const chunk = new Uint8Array(rawLength);
    await decodePayload(this.#codec, payload, chunk);
    return chunk;
  }

  /** The bytes, or undefined when the payload was refused as it should be. */
  async decodeOrRefuse(payload: Uint8Array, rawLength: number): Promise<Uint8Array | undefined> {
    try {
      return await this.decode(payload, rawLength);
    } catch (error) {
      assert.ok(error instanceof WireBoundError && error.code === 'CODEC_FAILED');
      return undefined;
    }
  }

  /** Encodes and decodes, unless the codec refuses the chunk. */
  async assertRoundTrip(chunk: Uint8Array): Promise<void> {
    const payload = await this.encode(chunk);
    if (payload !== undefined) assertSameBytes(await this.decode(payload, chunk.length), chunk);
  }

  /** How long `call` keeps the thread, milliseconds; what it returns may take as long as it likes. */
  async timeOfCall(kind: 'encode' | 'decode', input: Uint8Array, rawLength: number): Promise<number> {
    const startedAt = performance.now();
    let result: unknown;
    try {
      result = kind === 'encode' ? this.#codec.encode(input) : this.#codec.decode(input, rawLength);
    } catch {
      return performance.now() - startedAt;
    }
    const took = performance.now() - startedAt;
    await Promise.resolve(result).catch(() => undefined);
    return took;
  }
}
