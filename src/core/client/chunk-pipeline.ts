import type { Codec } from '../codec/codec.js';
import type { RegisteredCodec } from '../codec/codec-registry.js';
import { decodePayload } from '../codec/decode-payload.js';
import type { CodecModule, DigestJob, VerifyOutcome } from '../digest/digest-job.js';
import { DigestThread } from '../digest/digest-thread.js';
import { toWireBoundError, WireBoundError } from '../errors.js';
import type { Geometry } from '../framing/geometry.js';
import type { Sink } from '../sink/sink.js';
import { ChunkRing } from './chunk-ring.js';

/** The most chunks in one gathering write. */
const GATHER = 16;

type VerifyJob = Omit<Extract<DigestJob, { kind: 'verify' }>, 'kind'>;
type VerifyReply = VerifyOutcome & { readonly decodeMs: number };

/** What a pipeline tells its owner. */
export interface PipelineObserver {
  /** There is room for another chunk again. */
  roomAgain(): void;
  /** Chunk `verified` failed, or the sink did; nothing more will come out until `rewind`. */
  failed(error: WireBoundError): void;
}

/**
 * Chunks on their way from a producer (a connection, or a file on this disk) through the digest thread into a
 * sink. All of it goes in the order of the file and over one ring of shared memory:
 * `placed` >= `verified` >= `written`, and a chunk's slot is free once it is written.
 */
export class ChunkPipeline {
  readonly geometry: Geometry;
  readonly ring: ChunkRing;
  readonly #thread: DigestThread;
  readonly #codecs: readonly RegisteredCodec[];
  readonly #observer: PipelineObserver;
  #sink: Sink | undefined;
  #placed = 0;
  #verified = 0;
  #written = 0;
  #lastDigest: Uint8Array | undefined;
  /** Settles when the last chunk so far has reached the digest thread; set once one was decoded on this thread. */
  #inThread: Promise<void> | undefined;
  /** Everything that has been submitted, in order. */
  #submitted: Promise<void> = Promise.resolve();
  #writing: Promise<void> | undefined;
  #failure: WireBoundError | undefined;
  #waiting: (() => void)[] = [];
  #decodedBytes = 0;
  #decodeMs = 0;

  /** `codecs`: by codec number, counted from 1. */
  constructor(geometry: Geometry, codecs: readonly RegisteredCodec[], observer: PipelineObserver) {
    this.geometry = geometry;
    this.ring = new ChunkRing(geometry);
    this.#codecs = codecs;
    this.#observer = observer;
    const modules = codecs.map(
      ({ codec: { name }, module }): CodecModule => (module === undefined ? { name } : { name, module }),
    );
    this.#thread = new DigestThread(this.ring.memory, modules);
  }

  /** Chunks at the front of the file that are proven, counted from 0. */
  get verified(): number {
    return this.#verified;
  }

  /** File bytes that are proven. */
  get verifiedBytes(): number {
    return Math.min(this.geometry.offset(this.#verified), this.geometry.size);
  }

  /** The prefix digest of the last proven chunk; undefined before the first. */
  get lastDigest(): Uint8Array | undefined {
    return this.#lastDigest;
  }

  /** The chunk to put in next. */
  get next(): number {
    return this.#placed;
  }

  /**
   * Whether a producer must hold back: while one chunk is being filled in, the header of the one after it may
   * arrive with the same read, so two slots must be free.
   */
  get full(): boolean {
    return this.#placed - this.#written >= this.ring.slots - 1;
  }

  get failure(): WireBoundError | undefined {
    return this.#failure;
  }

  /** Raw KiB/s that decoding makes; 0 before anything was decoded. */
  get decodeRate(): number {
    return this.#decodeMs === 0 ? 0 : Math.round(this.#decodedBytes / 1.024 / this.#decodeMs);
  }

  /** From now on verified chunks go there; without a sink they are dropped. */
  set sink(sink: Sink | undefined) {
    this.#sink = sink;
  }

  /**
   * Hands in chunk `next`: its payload (raw where `codec` is 0) and the digest it must have are in its slot of the ring.
   */
  submit(codec: number, payloadLength: number): void {
    const index = this.#placed++;
    const earlier = this.#submitted;
    const outcome = this.#verify(index, codec, payloadLength);
    this.#submitted = outcome.then(
      (result) => this.#take(index, result),
      async (error: unknown) => {
        await earlier; // what comes before the chunk that failed still counts
        this.#fail(toWireBoundError(error));
      },
    );
  }

  /** Resolves when a chunk may be put in, or the pipeline has failed. */
  async room(): Promise<void> {
    while (this.full && this.#failure === undefined) {
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
  }

  /** Resolves when everything handed in so far is verified and written, or the pipeline has failed; then throws why. */
  async settle(): Promise<void> {
    await this.#submitted;
    await this.#writing;
    if (this.#failure !== undefined) throw this.#failure;
  }

  /**
   * Drops what is not verified, and a failure with it: chunk `verified` is next again. `restart` forgets the
   * verified ones too. Nobody may be filling a slot.
   */
  async rewind(restart = false): Promise<void> {
    await this.settle().catch(() => undefined);
    if (restart) {
      this.#verified = 0;
      this.#lastDigest = undefined;
    }
    this.#placed = this.#verified;
    this.#written = this.#verified;
    this.#failure = undefined;
    this.#thread.expect(this.#verified, restart);
  }

  async close(): Promise<void> {
    await this.#writing;
    await this.#thread.close();
  }

  #verify(index: number, codec: number, payloadLength: number): Promise<VerifyReply> {
    const offset = this.ring.payloadOffset(index);
    const job = { index, offset, rawLength: this.geometry.rawLength(index), codec, payloadLength };
    const registered = this.#codecs[codec - 1];
    const local = registered?.module === undefined ? registered?.codec : undefined;
    if (local === undefined && this.#inThread === undefined) return this.#thread.verify(job);
    return this.#verifyInTurn(job, local);
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

  /** Decodes a chunk in place; resolves to the milliseconds that took. */
  async #decodeHere(codec: Codec, { index, payloadLength, rawLength }: VerifyJob): Promise<number> {
    const startedAt = performance.now();
    try {
      const raw = await decodePayload(codec, this.ring.chunk(index, payloadLength), rawLength);
      this.ring.chunk(index, rawLength).set(raw);
      return performance.now() - startedAt;
    } catch (error) {
      const { code, message } = toWireBoundError(error, 'CODEC_FAILED');
      throw new WireBoundError(code, `chunk ${index} of ${this.geometry.count}: ${message}`, {
        cause: error,
      });
    }
  }

  #take(index: number, result: VerifyReply): void {
    const where = `chunk ${index} of ${this.geometry.count}`;
    if (result.outcome === 'verified') {
      if (result.decodeMs > 0) {
        this.#decodeMs += result.decodeMs;
        this.#decodedBytes += this.geometry.rawLength(index);
      }
      this.#lastDigest = this.ring.digest(index).slice();
      this.#verified++;
      if (this.#sink === undefined) this.#free(1);
      else this.#writing ??= this.#write(this.#sink);
    } else if (result.outcome === 'mismatch') {
      const [actual, expected] = [result.actual, this.ring.digest(index)].map((d) =>
        Buffer.from(d).toString('hex'),
      );
      const message = `SHA-256 mismatch at ${where}: up to there it is ${actual} and should be ${expected}`;
      this.#fail(new WireBoundError('DIGEST_MISMATCH', message));
    } else if (result.outcome === 'undecodable') {
      this.#fail(new WireBoundError('CODEC_FAILED', `${where}: ${result.message}`));
    }
  }

  /** Writes until nothing verified is left; one gathering write at a time. */
  async #write(sink: Sink): Promise<void> {
    try {
      while (this.#written < this.#verified) {
        const first = this.#written;
        const count = Math.min(GATHER, this.#verified - first);
        const spans = Array.from({ length: count }, (_, at) =>
          this.ring.chunk(first + at, this.geometry.rawLength(first + at)),
        );
        await sink.write(spans, this.geometry.offset(first));
        this.#free(count);
      }
      this.#writing = undefined;
    } catch (error) {
      this.#fail(toWireBoundError(error, 'SINK_FAILED')); // and `#writing` stays: nothing is written any more
    }
  }

  #free(count: number): void {
    const wasFull = this.full;
    this.#written += count;
    if (!wasFull || this.full) return;
    this.#wake();
    this.#observer.roomAgain();
  }

  #wake(): void {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }

  #fail(error: WireBoundError): void {
    if (this.#failure !== undefined) return;
    this.#failure = error;
    this.#wake();
    this.#observer.failed(error);
  }
}
