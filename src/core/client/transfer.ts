import type { RegisteredCodec } from '../codec/codec-registry.js';
import { EMPTY_SHA256 } from '../digest/chain.js';
import { DigestThread } from '../digest/digest-thread.js';
import { WireBoundError } from '../errors.js';
import { Geometry } from '../framing/geometry.js';
import type { Manifest, ManifestEntry } from '../framing/manifest.js';
import type { GetReason, ServerWaits, Verdict } from '../framing/messages.js';
import { resolveDestination } from '../sink/destination.js';
import { ChunkIntake, codecNumbers } from './chunk-intake.js';
import { ChunkPipeline } from './chunk-pipeline.js';
import { findLimit, type LimitFinding } from './find-limit.js';
import { Landing, type LandingOptions } from './landing.js';
import type { Link } from './link.js';
import { requireSameContent, sourceChanged } from './same-content.js';

/** What the user wants done with the file. */
export interface TransferOptions extends LandingOptions {
  /** See {@link resolveDestination}. */
  readonly output: string | undefined;
  /** The SHA-256 the file must have, lower-case hex. */
  readonly expect: string | undefined;
  /** Codecs that can be decoded here, in the order of the hello. */
  readonly codecs: readonly RegisteredCodec[];
  /** A fresh one; closed by whoever started it. */
  readonly thread: DigestThread;
}

export type TransferPhase = 'checking' | 'receiving' | 'flushing' | 'done';

/**
 * One file on its way to one place, over as many connections as it takes. Each `attempt` goes on where the last
 * one stopped: everything verified stays so.
 */
export class Transfer {
  readonly entry: ManifestEntry;
  readonly #landing: Landing;
  readonly #options: TransferOptions;
  #pipeline: ChunkPipeline;
  #link: Link | undefined;
  /** A thread is for one pipeline; this is for the one of another chunk size. */
  #secondThread: DigestThread | undefined;
  #checked = false;
  #phase: TransferPhase = 'checking';
  #alreadyComplete = false;
  #waits: ServerWaits | undefined;
  #flushMs = 0;

  private constructor(manifest: Manifest, landing: Landing, options: TransferOptions) {
    this.entry = manifest.entries[0];
    this.#landing = landing;
    this.#options = options;
    this.#pipeline = this.#createPipeline(manifest.chunkSize, options.thread);
  }

  /** Decides where the file goes. Throws what {@link resolveDestination} throws. */
  static async prepare(manifest: Manifest, options: TransferOptions): Promise<Transfer> {
    const [entry] = manifest.entries;
    const destination = await resolveDestination(options.output, entry.path);
    return new Transfer(manifest, new Landing(destination, entry, options), options);
  }

  get pipeline(): ChunkPipeline {
    return this.#pipeline;
  }

  get phase(): TransferPhase {
    return this.#phase;
  }

  /** Whether the target was there before, identical. */
  get alreadyComplete(): boolean {
    return this.#alreadyComplete;
  }

  /** Where the file is, or will be, for people. */
  get location(): string {
    return this.#landing.location;
  }

  /** The file that holds what arrived before a failure, if there is one. */
  get partial(): string | undefined {
    return this.#landing.partial;
  }

  /** SHA-256 of what is verified so far, in hex; of what the server offers, where that is not what is expected. */
  get sha256(): string | undefined {
    const { lastDigest, geometry } = this.#pipeline;
    if (this.#isUnexpected(this.entry.sha256)) return this.entry.sha256;
    if (geometry.count === 0) return EMPTY_SHA256;
    return lastDigest && Buffer.from(lastDigest).toString('hex');
  }

  /** What limited the last stretch of the transfer; undefined when nothing had to be sent. */
  get limit(): LimitFinding | undefined {
    if (this.#waits === undefined || this.#alreadyComplete || this.entry.size === 0) return undefined;
    return findLimit(this.#pipeline.times, this.#waits, this.#flushMs);
  }

  /**
   * Does everything that is left, over one connection, and publishes the file. Throws whatever went wrong;
   * another attempt may follow after errors of the connection, the protocol and single chunks.
   */
  async attempt(link: Link, manifest: Manifest, reason: GetReason): Promise<void> {
    this.#link = link;
    await this.#pipeline.rewind();
    if (manifest.chunkSize !== this.#pipeline.geometry.chunkSize) await this.#recut(manifest);
    link.times = this.#pipeline.times;
    await requireSameContent(link, manifest, this.#pipeline);
    if (!this.#checked) await this.#check(link);
    this.#checked = true;
    await this.#receive(link, manifest, reason);
    if (this.#alreadyComplete) return;
    this.#requireExpected(this.sha256);
    this.#phase = 'flushing';
    const flushedAt = performance.now();
    await this.#landing.commit();
    this.#flushMs = performance.now() - flushedAt;
    this.#phase = 'done';
  }

  /** Delivers the verdict over a new connection, after the one that brought the last chunk has died. */
  async deliver(link: Link, manifest: Manifest, verdict: Verdict): Promise<boolean> {
    const geometry = new Geometry(this.entry.size, manifest.chunkSize); // whatever the cut, the last digest is the file's
    await requireSameContent(link, manifest, {
      geometry,
      verified: geometry.count,
      lastDigest: this.#pipeline.lastDigest,
    });
    await link.get({ first: geometry.count, count: 0, reason: 'lost' }, new ChunkIntake(this.#pipeline, []));
    return link.conclude(verdict);
  }

  /** Lets everything go; a partial file stays. */
  async close(): Promise<void> {
    await this.#pipeline.close();
    await this.#secondThread?.close();
    await this.#landing.discard();
  }

  #createPipeline(chunkSize: number, thread: DigestThread): ChunkPipeline {
    return new ChunkPipeline(new Geometry(this.entry.size, chunkSize), this.#options.codecs, thread, {
      roomAgain: () => this.#link?.resume(),
      failed: (error) => {
        if (this.#phase === 'receiving') this.#link?.stop(error);
      },
    });
  }

  /** The server was started again with another chunk size: what is here is proven again at the new boundaries. */
  async #recut(manifest: Manifest): Promise<void> {
    const [{ size, path }] = manifest.entries;
    if (size !== this.entry.size) throw sourceChanged(path);
    const { verifiedBytes } = this.#pipeline;
    if (this.#checked) this.#landing.recut(verifiedBytes, manifest.chunkSize);
    await this.#pipeline.close();
    await this.#secondThread?.close();
    this.#secondThread = new DigestThread();
    this.#pipeline = this.#createPipeline(manifest.chunkSize, this.#secondThread);
    this.#checked = false;
    this.#alreadyComplete = false;
  }

  /** Looks at what is on this disk already. */
  async #check(link: Link): Promise<void> {
    this.#phase = 'checking';
    this.#requireExpected(this.entry.sha256);
    this.#alreadyComplete = await this.#landing.prepare(link, this.#pipeline);
    if (this.#alreadyComplete) this.#requireExpected(this.sha256);
  }

  #isUnexpected(sha256: string | undefined): boolean {
    const { expect } = this.#options;
    return expect !== undefined && sha256 !== undefined && sha256 !== expect;
  }

  #requireExpected(sha256: string | undefined): void {
    if (!this.#isUnexpected(sha256)) return;
    throw new WireBoundError(
      'DIGEST_MISMATCH',
      `SHA-256 mismatch: the file has ${sha256}, --expect wants ${this.#options.expect}`,
      { final: true },
    );
  }

  async #receive(link: Link, manifest: Manifest, reason: GetReason): Promise<void> {
    const pipeline = this.#pipeline;
    const numbers = codecNumbers(manifest, this.#options.codecs);
    this.#phase = 'receiving';
    const first = pipeline.verified;
    const count = pipeline.geometry.count - first;
    pipeline.times.restart();
    try {
      this.#waits = await link.get({ first, count, reason }, new ChunkIntake(pipeline, numbers));
    } finally {
      // A chunk that came before the trouble, and is wrong, is the more telling one.
      await pipeline.settle();
      pipeline.times.stop();
    }
  }
}
