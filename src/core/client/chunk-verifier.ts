import type { Codec } from '../codec/codec.js';
import type { RegisteredCodec } from '../codec/codec-registry.js';
import { decodePayload } from '../codec/decode-payload.js';
import type { CodecModule, DigestJob, DigestReply } from '../digest/digest-job.js';
import type { DigestThread } from '../digest/digest-thread.js';
import { toWireBoundError, WireBoundError } from '../errors.js';
import type { Geometry } from '../framing/geometry.js';
import type { ChunkRing } from './chunk-ring.js';

type VerifyJob = Omit<Extract<DigestJob, { kind: 'verify' }>, 'kind'>;

/** How a chunk fared, and what that took. */
export type VerifyReply = Extract<DigestReply, { kind: 'verify' }>;

/** Decodes and verifies chunks in the ring, in order, on a thread of its own wherever possible. */
export class ChunkVerifier {
  readonly #geometry: Geometry;
  readonly #ring: ChunkRing;
  readonly #thread: DigestThread;
  readonly #codecs: readonly RegisteredCodec[];
  /** Settles when the newest chunk has reached the thread; undefined while no chunk had to be decoded here. */
  #inThread: Promise<void> | undefined;
  /** When the last chunk was decoded here, on the monotonic clock. */
  #decodedAt = 0;

  /** `codecs`: by codec number, counted from 1. The thread is a fresh one, and closed by whoever started it. */
  constructor(geometry: Geometry, ring: ChunkRing, codecs: readonly RegisteredCodec[], thread: DigestThread) {
    this.#geometry = geometry;
    this.#ring = ring;
    this.#codecs = codecs;
    const modules = codecs.map(
      ({ codec: { name }, module }): CodecModule => ({ name, ...(module === undefined ? {} : { module }) }),
    );
    this.#thread = thread;
    thread.attach(ring.memory, modules);
  }

  /** Verifies chunk `index`, whose payload and expected digest are in its slot. Rejects with CODEC_FAILED. */
  verify(index: number, codec: number, payloadLength: number): Promise<VerifyReply> {
    const offset = this.#ring.payloadOffset(index);
    const job = { index, offset, rawLength: this.#geometry.rawLength(index), codec, payloadLength };
    const registered = this.#codecs[codec - 1];
    const local = registered?.module === undefined ? registered?.codec : undefined;
    if (local === undefined && this.#inThread === undefined) return this.#thread.verify(job);
    return this.#verifyInTurn(job, local);
  }

  /** Makes chunk `index` the next one to verify; with `restart` from an empty hash. */
  expect(index: number, restart: boolean): void {
    this.#thread.expect(index, restart);
  }

  /**
   * A codec that came as an object cannot follow into the digest thread. Once there is one, chunks wait for
   * each other, so that they reach the thread in order all the same.
   */
  async #verifyInTurn(job: VerifyJob, local: Codec | undefined): Promise<VerifyReply> {
    const earlier = this.#inThread;
    let arrived = () => {};
    this.#inThread = new Promise((resolve) => {
      arrived = resolve;
    });
    const decoded = local === undefined ? undefined : this.#decodeHere(local, job);
    decoded?.catch(() => undefined); // reported below, when its turn has come
    await earlier;
    let reply: Promise<VerifyReply>;
    let decodeMs: number | undefined;
    try {
      decodeMs = await decoded;
      reply = this.#thread.verify(
        decodeMs === undefined ? job : { ...job, codec: 0, payloadLength: job.rawLength },
      );
    } finally {
      arrived();
    }
    return decodeMs === undefined ? reply : { ...(await reply), decodeMs };
  }

  /** Decodes a chunk in place; resolves to the milliseconds that took, those shared with the chunk before not counted again. */
  async #decodeHere(codec: Codec, { index, payloadLength, rawLength }: VerifyJob): Promise<number> {
    const startedAt = performance.now();
    try {
      await decodePayload(codec, this.#ring.chunk(index, payloadLength), this.#ring.chunk(index, rawLength));
      const since = Math.max(startedAt, this.#decodedAt);
      this.#decodedAt = performance.now();
      return this.#decodedAt - since;
    } catch (error) {
      const { code, message } = toWireBoundError(error, 'CODEC_FAILED');
      throw new WireBoundError(code, `chunk ${index} of ${this.#geometry.count}: ${message}`, {
        cause: error,
      });
    }
  }
}
