import { open } from 'node:fs/promises';
import type { RegisteredCodec } from '../codec/codec-registry.js';
import { EMPTY_SHA256 } from '../digest/chain.js';
import type { DigestThread } from '../digest/digest-thread.js';
import { WireBoundError } from '../errors.js';
import { Geometry } from '../framing/geometry.js';
import type { Manifest, ManifestEntry } from '../framing/manifest.js';
import type { GetReason, ServerWaits, Verdict } from '../framing/messages.js';
import { type Destination, resolveDestination } from '../sink/destination.js';
import { FileSink, openFileSink } from '../sink/file-sink.js';
import { NullSink } from '../sink/null-sink.js';
import { removePublishedPartial } from '../sink/remove-published-partial.js';
import type { Sink } from '../sink/sink.js';
import { StdoutSink } from '../sink/stdout-sink.js';
import { ChunkIntake } from './chunk-intake.js';
import { ChunkPipeline } from './chunk-pipeline.js';
import { findLimit, type LimitFinding } from './find-limit.js';
import type { Link } from './link.js';
import { askDigest, proveLocal } from './prove-local.js';

/** What the user wants done with the file. */
export interface TransferOptions {
  /** See {@link resolveDestination}. */
  readonly output: string | undefined;
  readonly force: boolean;
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
  readonly destination: Destination;
  readonly pipeline: ChunkPipeline;
  readonly #options: TransferOptions;
  #sink: Sink | undefined;
  #link: Link | undefined;
  #checked = false;
  #phase: TransferPhase = 'checking';
  #alreadyComplete = false;
  #waits: ServerWaits | undefined;
  #flushMs = 0;

  private constructor(manifest: Manifest, destination: Destination, options: TransferOptions) {
    const [entry] = manifest.entries;
    this.entry = entry;
    this.destination = destination;
    this.#options = options;
    this.pipeline = new ChunkPipeline(
      new Geometry(entry.size, manifest.chunkSize),
      options.codecs,
      options.thread,
      {
        roomAgain: () => this.#link?.resume(),
        failed: (error) => {
          if (this.#phase === 'receiving') this.#link?.fail(error);
        },
      },
    );
  }

  /** Decides where the file goes. Throws what {@link resolveDestination} throws, and SINK_EXISTS at once where sizes differ. */
  static async prepare(manifest: Manifest, options: TransferOptions): Promise<Transfer> {
    const [entry] = manifest.entries;
    const destination = await resolveDestination(options.output, entry.path);
    if (entry.sha256 !== undefined) checkExpected(options.expect, entry.sha256);
    if (
      destination.kind === 'file' &&
      destination.exists &&
      destination.size !== entry.size &&
      !options.force
    ) {
      throw exists(destination.path);
    }
    return new Transfer(manifest, destination, options);
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
    const { destination } = this;
    return destination.kind === 'file'
      ? destination.path
      : destination.kind === 'null'
        ? new NullSink().location
        : 'standard output';
  }

  /** The file that holds what arrived before a failure, if there is one. */
  get partial(): string | undefined {
    return this.#sink instanceof FileSink && this.pipeline.verified > 0 ? this.#sink.partialPath : undefined;
  }

  /** SHA-256 of what is verified so far, in hex. */
  get sha256(): string | undefined {
    const { lastDigest, geometry } = this.pipeline;
    if (geometry.count === 0) return EMPTY_SHA256;
    return lastDigest && Buffer.from(lastDigest).toString('hex');
  }

  /** What limited the last stretch of the transfer; undefined when nothing had to be sent. */
  get limit(): LimitFinding | undefined {
    if (this.#waits === undefined || this.#alreadyComplete || this.entry.size === 0) return undefined;
    return findLimit(this.pipeline.times, this.#waits, this.#flushMs);
  }

  /**
   * Does everything that is left, over one connection, and publishes the file. Throws whatever went wrong;
   * another attempt may follow after errors of the connection, the protocol and single chunks.
   */
  async attempt(link: Link, manifest: Manifest, reason: GetReason): Promise<void> {
    const { pipeline } = this;
    this.#link = link;
    link.times = pipeline.times;
    await pipeline.rewind();
    await this.#checkSame(link, manifest);
    if (!this.#checked) await this.#check(link);
    this.#checked = true;
    await this.#receive(link, manifest, reason);
    if (this.#alreadyComplete) return;
    checkExpected(this.#options.expect, this.sha256);
    this.#phase = 'flushing';
    const flushedAt = performance.now();
    await this.#sink?.commit();
    this.#flushMs = performance.now() - flushedAt;
    this.#phase = 'done';
  }

  /** Delivers the verdict over a new connection, after the one that brought the last chunk has died. */
  async deliver(link: Link, manifest: Manifest, verdict: Verdict): Promise<boolean> {
    await this.#checkSame(link, manifest);
    const { count } = this.pipeline.geometry;
    await link.get({ first: count, count: 0, reason: 'lost' }, new ChunkIntake(this.pipeline, []));
    return link.conclude(verdict);
  }

  /** Lets everything go; a partial file stays. */
  async close(): Promise<void> {
    await this.pipeline.close();
    await this.#sink?.discard();
  }

  /** A server may have been started again with another file since the last attempt. */
  async #checkSame(link: Link, manifest: Manifest): Promise<void> {
    const { geometry, lastDigest, verified } = this.pipeline;
    const [entry] = manifest.entries;
    const sameShape = entry.size === geometry.size && manifest.chunkSize === geometry.chunkSize;
    if (sameShape && lastDigest === undefined) return;
    if (sameShape && lastDigest !== undefined) {
      const digest = await askDigest(link, verified - 1, geometry.count);
      if (Buffer.compare(digest, lastDigest) === 0) return;
    }
    throw new WireBoundError(
      'SOURCE_CHANGED',
      `the server now offers another content of ${this.entry.path}`,
      {
        suggestions: ['run the same command again: it gets the new content and keeps what is still right'],
      },
    );
  }

  /** Looks at what is on this disk already: the target itself, then a partial file. */
  async #check(link: Link): Promise<void> {
    const { destination, entry, pipeline } = this;
    if (destination.kind === 'file' && destination.exists && destination.size === entry.size) {
      if (await this.#isIdentical(link, destination.path)) return;
      if (!this.#options.force) throw exists(destination.path);
      await pipeline.rewind(true);
    }
    this.#sink ??= await this.#openSink();
    if (this.#sink instanceof FileSink) await this.#resume(link, this.#sink);
    pipeline.sink = this.#sink;
  }

  async #isIdentical(link: Link, path: string): Promise<boolean> {
    const { geometry } = this.pipeline;
    const file = await open(path, 'r');
    try {
      const read = async (offset: number, into: Uint8Array) =>
        (await file.read(into, 0, into.length, offset)).bytesRead;
      await proveLocal(link, this.pipeline, read, geometry.count);
    } finally {
      await file.close();
    }
    if (this.pipeline.verified < geometry.count) return false;
    checkExpected(this.#options.expect, this.sha256);
    await removePublishedPartial(path);
    this.#alreadyComplete = true;
    return true;
  }

  /** Keeps the longest front part of the partial file that the server proves. */
  async #resume(link: Link, sink: FileSink): Promise<void> {
    const { geometry } = this.pipeline;
    const whole =
      sink.partialSize >= geometry.size ? geometry.count : Math.floor(sink.partialSize / geometry.chunkSize);
    const read = (offset: number, into: Uint8Array) => sink.readPartial(offset, into);
    await proveLocal(link, this.pipeline, read, whole);
    await this.pipeline.rewind();
    await sink.keep(this.pipeline.verifiedBytes);
  }

  async #receive(link: Link, manifest: Manifest, reason: GetReason): Promise<void> {
    const { pipeline } = this;
    const numbers = manifest.codecs.map(
      (name) => 1 + this.#options.codecs.findIndex(({ codec }) => codec.name === name),
    );
    this.#phase = 'receiving';
    const first = pipeline.verified;
    pipeline.times.restart();
    this.#waits = await link.get(
      { first, count: pipeline.geometry.count - first, reason },
      new ChunkIntake(pipeline, numbers),
    );
    await pipeline.settle();
  }

  #openSink(): Promise<Sink> | Sink {
    const { destination, entry } = this;
    if (destination.kind === 'null') return new NullSink();
    if (destination.kind === 'stdout') return new StdoutSink(process.stdout);
    const { size, mtimeMs, executable } = entry;
    return openFileSink(destination.path, {
      size,
      force: this.#options.force,
      ...(mtimeMs === undefined ? {} : { mtimeMs }),
      ...(executable === undefined ? {} : { executable }),
    });
  }
}

function checkExpected(expected: string | undefined, actual: string | undefined): void {
  if (expected === undefined || expected === actual) return;
  throw new WireBoundError(
    'DIGEST_MISMATCH',
    `SHA-256 mismatch: the file has ${actual}, --expect wants ${expected}`,
  );
}

function exists(path: string): WireBoundError {
  return new WireBoundError('SINK_EXISTS', `${path} already exists and is a different file`, {
    suggestions: ['choose another -o, or replace it with --force'],
  });
}
