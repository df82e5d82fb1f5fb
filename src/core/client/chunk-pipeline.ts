import type { RegisteredCodec } from '../codec/codec-registry.js';
import type { DigestThread } from '../digest/digest-thread.js';
import { toWireBoundError, WireBoundError } from '../errors.js';
import type { Geometry } from '../framing/geometry.js';
import type { Sink } from '../sink/sink.js';
import { ChunkRing } from './chunk-ring.js';
import { ChunkVerifier, type VerifyReply } from './chunk-verifier.js';
import { StageTimes } from './stage-times.js';

/** The most chunks in one gathering write. */
const GATHER = 16;

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
  readonly times = new StageTimes();
  readonly #verifier: ChunkVerifier;
  readonly #observer: PipelineObserver;
  #sink: Sink | undefined;
  #placed = 0;
  #verified = 0;
  #verifiedAtMs = performance.now();
  #written = 0;
  #lastDigest: Uint8Array | undefined;
  /** Everything that has been submitted, in order. */
  #submitted: Promise<void> = Promise.resolve();
  #writing: Promise<void> | undefined;
  #failure: WireBoundError | undefined;
  #sinkFailure: WireBoundError | undefined;
  #waiting: (() => void)[] = [];
  /** Jobs that the digest thread has not answered. */
  #outstanding = 0;
  /** Whether the thread has answered a job yet. */
  #answered = false;

  /** `codecs`: by codec number, counted from 1. */
  constructor(
    geometry: Geometry,
    codecs: readonly RegisteredCodec[],
    thread: DigestThread,
    observer: PipelineObserver,
  ) {
    this.geometry = geometry;
    this.ring = new ChunkRing(geometry);
    this.#observer = observer;
    this.#verifier = new ChunkVerifier(geometry, this.ring, codecs, thread);
  }

  /** Chunks at the front of the file that are proven, counted from 0. */
  get verified(): number {
    return this.#verified;
  }

  /** When the last of them was, on the monotonic clock, milliseconds; before that, when the pipeline was made. */
  get verifiedAtMs(): number {
    return this.#verifiedAtMs;
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
    this.#outstanding++;
    this.#noteState();
    const outcome = this.#verifier.verify(index, codec, payloadLength);
    this.#submitted = outcome.then(
      (result) => this.#take(index, result),
      async (error: unknown) => {
        await earlier; // what comes before the chunk that failed still counts
        this.#outstanding--;
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
   * verified ones too. Nobody may be filling a slot. A failed sink stays failed: this throws what it said, since
   * verified chunks are lost to it.
   */
  async rewind(restart = false): Promise<void> {
    await this.settle().catch(() => undefined);
    if (this.#sinkFailure !== undefined) throw this.#sinkFailure;
    if (restart) {
      this.#verified = 0;
      this.#lastDigest = undefined;
    }
    this.#placed = this.#verified;
    this.#written = this.#verified;
    this.#failure = undefined;
    this.#verifier.expect(this.#verified, restart);
  }

  /** Resolves when no write is under way any more. */
  async close(): Promise<void> {
    await this.#writing;
  }

  #take(index: number, result: VerifyReply): void {
    this.#outstanding--;
    this.#answered = true;
    const where = `chunk ${index} of ${this.geometry.count}`;
    if (result.outcome === 'verified') {
      this.times.count(this.geometry.rawLength(index), result.hashMs, result.decodeMs);
      this.#lastDigest = this.ring.digest(index).slice();
      this.#verified++;
      this.#verifiedAtMs = performance.now();
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
    this.#noteState();
  }

  #noteState(): void {
    const held = this.full || this.#placed === this.geometry.count;
    // While the thread is still starting, bytes come as fast as they can until the ring is full of them.
    const working = this.#outstanding > 0 && (this.#answered || held);
    this.times.enter(working ? 'busy' : held ? 'blocked' : 'starved');
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
      this.#sinkFailure = toWireBoundError(error, 'SINK_FAILED');
      this.#fail(this.#sinkFailure); // and `#writing` stays: nothing is written any more
    }
  }

  #free(count: number): void {
    const wasFull = this.full;
    this.#written += count;
    this.#noteState();
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
