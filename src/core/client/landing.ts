import { WireBoundError } from '../errors.js';
import type { ManifestEntry } from '../framing/manifest.js';
import type { Destination } from '../sink/destination.js';
import { FileSink } from '../sink/file-sink.js';
import { NullSink } from '../sink/null-sink.js';
import type { Sink } from '../sink/sink.js';
import type { ChunkPipeline } from './chunk-pipeline.js';
import type { Link } from './link.js';
import { openSink } from './open-sink.js';
import { proveLocal, proveTarget } from './prove-local.js';
import { sourceChanged } from './same-content.js';

/** How a {@link Landing} goes about what is there already. */
export interface LandingOptions {
  /** Replace a different file. */
  readonly force: boolean;
  /** `bytes` bytes that are at `path` already are about to be checked. */
  onChecking(path: string, bytes: number): void;
  /** The first `bytes` bytes of a partial file are right and stay. */
  onKept(path: string, bytes: number): void;
}

/** Where one file goes: what is there of it already, and the sink that takes the rest. */
export class Landing {
  readonly #destination: Destination;
  readonly #entry: ManifestEntry;
  readonly #options: LandingOptions;
  #sink: Sink | undefined;
  /** Whether a file under the final name was found to be another. */
  #targetDiffers = false;
  /** Bytes of a partial file that were proven at other boundaries. */
  #provenBefore = 0;

  constructor(destination: Destination, entry: ManifestEntry, options: LandingOptions) {
    this.#destination = destination;
    this.#entry = entry;
    this.#options = options;
  }

  /** The place, for people. */
  get location(): string {
    const { kind } = this.#destination;
    if (kind === 'file') return this.#destination.path;
    return kind === 'null' ? new NullSink().location : 'standard output';
  }

  /** The file that holds what arrived before a failure, if there is one. */
  get partial(): string | undefined {
    return this.#sink instanceof FileSink && this.#sink.partialSize > 0 ? this.#sink.partialPath : undefined;
  }

  /**
   * Looks at the target itself, then at a partial file, and has the pipeline go on behind what is right. True when the target
   * is complete; otherwise the sink is open. Throws SINK_EXISTS, and what opening the sink throws.
   */
  async prepare(link: Link, pipeline: ChunkPipeline): Promise<boolean> {
    const destination = this.#destination;
    if (destination.kind === 'file' && destination.exists && !this.#targetDiffers) {
      if (destination.size === this.#entry.size) {
        this.#options.onChecking(destination.path, this.#entry.size);
        if (await proveTarget(link, pipeline, destination.path)) return true;
      }
      if (!this.#options.force) throw exists(destination.path);
      this.#targetDiffers = true;
      await pipeline.rewind(true);
    }
    this.#sink ??= await openSink(destination, this.#entry, this.#options.force);
    if (this.#sink instanceof FileSink) await this.#resume(link, pipeline, this.#sink);
    pipeline.sink = this.#sink;
    return false;
  }

  /**
   * The server cuts the file otherwise from now on, and `proven` bytes of what is here were right: `prepare` must come again, and
   * find as much. Throws SOURCE_CHANGED where what has gone out cannot be read again.
   */
  recut(proven: number, chunkSize: number): void {
    if (proven > 0 && this.#destination.kind === 'stdout') {
      throw new WireBoundError(
        'SOURCE_CHANGED',
        `the server now cuts ${this.#entry.path} into chunks of ${chunkSize} bytes; what went to standard output cannot be checked against them`,
      );
    }
    if (this.#sink instanceof FileSink) this.#provenBefore = proven;
  }

  /** Publishes the file. */
  async commit(): Promise<void> {
    await this.#sink?.commit();
  }

  /** Lets go; a partial file stays. */
  async discard(): Promise<void> {
    await this.#sink?.discard();
  }

  /** Keeps the longest front part of the partial file that the server proves. */
  async #resume(link: Link, pipeline: ChunkPipeline, sink: FileSink): Promise<void> {
    const { geometry } = pipeline;
    const held = sink.partialSize;
    const whole = held >= geometry.size ? geometry.count : Math.floor(held / geometry.chunkSize);
    if (held > 0) this.#options.onChecking(sink.partialPath, held);
    const read = (offset: number, into: Uint8Array) => sink.readPartial(offset, into);
    await proveLocal(link, pipeline, read, whole);
    await pipeline.rewind();
    await sink.keep(pipeline.verifiedBytes);
    const kept = pipeline.verifiedBytes;
    if (held > 0) this.#options.onKept(sink.partialPath, kept);
    if (kept < this.#provenBefore - (this.#provenBefore % geometry.chunkSize)) {
      throw sourceChanged(this.#entry.path);
    }
  }
}

function exists(path: string): WireBoundError {
  return new WireBoundError('SINK_EXISTS', `${path} already exists and is a different file`, {
    suggestions: ['choose another -o, or replace it with --force'],
  });
}
