import type { RegisteredCodec } from '../codec/codec-registry.js';
import { EMPTY_SHA256 } from '../digest/chain.js';
import { DigestThread } from '../digest/digest-thread.js';
import { Geometry } from '../framing/geometry.js';
import type { Manifest, ManifestEntry } from '../framing/manifest.js';
import type { Verdict } from '../framing/messages.js';
import type { Sink } from '../sink/sink.js';
import { sinkFailure } from '../sink/sink-failure.js';
import { writeAll } from '../sink/write-all.js';
import { ChunkIntake, codecNumbers } from './chunk-intake.js';
import { ChunkPipeline } from './chunk-pipeline.js';
import type { Link } from './link.js';
import type { LocalCopy } from './open-local-copy.js';
import { proveLocal } from './prove-local.js';
import { requireSameContent } from './same-content.js';
import type { VerifyResult } from './verify-event.js';

/** How a {@link Comparison} goes about it. */
export interface ComparisonOptions {
  readonly repair: boolean;
  readonly codecs: readonly RegisteredCodec[];
  /** After so many bad chunks it gives up. */
  readonly mostBadChunks: number;
  onBad(chunk: number): void;
}

/** One local file beside what a server offers, over as many connections as it takes. */
export class Comparison {
  readonly entry: ManifestEntry;
  readonly pipeline: ChunkPipeline;
  readonly #local: LocalCopy;
  readonly #options: ComparisonOptions;
  readonly #bad = new Set<number>();
  readonly #thread = new DigestThread();
  #link: Link | undefined;
  #fetching = false;
  #gaveUp = false;

  /** The local copy stays the caller's. */
  constructor(manifest: Manifest, local: LocalCopy, options: ComparisonOptions) {
    const [entry] = manifest.entries;
    this.entry = entry;
    this.#local = local;
    this.#options = options;
    this.pipeline = new ChunkPipeline(
      new Geometry(entry.size, manifest.chunkSize),
      options.codecs,
      this.#thread,
      {
        roomAgain: () => this.#link?.resume(),
        failed: (error) => {
          if (this.#fetching) this.#link?.stop(error);
        },
      },
    );
  }

  /** Compares what is left, over one connection. */
  async attempt(link: Link, manifest: Manifest): Promise<void> {
    const { pipeline } = this;
    const { count } = pipeline.geometry;
    this.#link = link;
    this.#fetching = false;
    pipeline.sink = undefined;
    await pipeline.rewind();
    await requireSameContent(link, manifest, pipeline);
    const numbers = codecNumbers(manifest, this.#options.codecs);
    const read = async (offset: number, into: Uint8Array) =>
      (await this.#attempt('read', this.#local.file.read(into, 0, into.length, offset))).bytesRead;
    let ended = false;
    while (pipeline.verified < count) {
      await proveLocal(link, pipeline, read, count);
      await pipeline.rewind();
      const chunk = pipeline.verified;
      if (chunk === count) break;
      if (this.#bad.size === this.#options.mostBadChunks && !this.#bad.has(chunk)) {
        this.#gaveUp = true;
        return;
      }
      if (!this.#bad.has(chunk)) this.#options.onBad(chunk);
      this.#bad.add(chunk);
      await this.#fetch(link, chunk, numbers);
      ended = chunk + 1 === count;
    }
    // The server confirms at the End that its file is still the one whose digests it gave.
    if (!ended) await link.get({ first: count, count: 0, reason: 'first' }, new ChunkIntake(pipeline, []));
    if (this.#options.repair && this.#isDifferent) await this.#finishRepair();
  }

  /** Tells the server how it went over a new connection. */
  async deliver(link: Link, manifest: Manifest, verdict: Verdict): Promise<boolean> {
    await requireSameContent(link, manifest, this.pipeline);
    const { count } = this.pipeline.geometry;
    if (verdict.verified) {
      await link.get({ first: count, count: 0, reason: 'lost' }, new ChunkIntake(this.pipeline, []));
    }
    return link.conclude(verdict);
  }

  /** What was found, once an attempt has succeeded. */
  findings(): Omit<VerifyResult, 'path' | 'bytesOnWire' | 'seconds'> {
    const { geometry, verified, verifiedBytes, lastDigest } = this.pipeline;
    const bad = [...this.#bad];
    const badBytes = bad.reduce((sum, index) => sum + geometry.rawLength(index), 0);
    const sha256 = geometry.count === 0 ? EMPTY_SHA256 : Buffer.from(lastDigest ?? []).toString('hex');
    const repaired = this.#options.repair && !this.#gaveUp;
    return {
      result: this.#isDifferent ? (repaired ? 'REPAIRED' : 'DIFFERENT') : 'IDENTICAL',
      name: this.entry.path,
      ...(this.#gaveUp ? {} : { sha256 }),
      bytes: geometry.size,
      localBytes: this.#local.bytes,
      chunks: geometry.count,
      chunkSize: geometry.chunkSize,
      badChunks: bad,
      comparedChunks: verified,
      goodBytes: verifiedBytes - badBytes,
    };
  }

  async close(): Promise<void> {
    await this.pipeline.close();
    await this.#thread.close();
  }

  get #isDifferent(): boolean {
    return this.#bad.size > 0 || this.#local.bytes !== this.pipeline.geometry.size;
  }

  /** Fetches one chunk; with `repair`, it is written to its place once it is verified. */
  async #fetch(link: Link, chunk: number, numbers: readonly number[]): Promise<void> {
    const { pipeline } = this;
    if (this.#options.repair) pipeline.sink = this.#repairSink();
    this.#fetching = true;
    await link.get(
      { first: chunk, count: 1, reason: 'first' },
      new ChunkIntake(pipeline, numbers, chunk + 1),
    );
    await pipeline.settle();
    this.#fetching = false;
    pipeline.sink = undefined;
  }

  #repairSink(): Sink {
    return {
      location: this.#local.path,
      write: (spans, offset) =>
        this.#attempt(`write byte ${offset} of`, writeAll(this.#local.file, spans, offset)),
      commit: async () => undefined,
      discard: async () => undefined,
    };
  }

  async #finishRepair(): Promise<void> {
    const { size } = this.pipeline.geometry;
    if (this.#local.bytes > size) await this.#attempt('shorten', this.#local.file.truncate(size));
    await this.#attempt('finish', this.#local.file.sync());
  }

  async #attempt<T>(action: string, step: Promise<T>): Promise<T> {
    try {
      return await step;
    } catch (error) {
      throw sinkFailure(error, action, this.#local.path);
    }
  }
}
