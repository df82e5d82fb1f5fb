import { randomBytes } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { Chain } from '../digest/chain.js';
import type { ChainCache } from '../digest/chain-cache.js';
import { type PassTimes, recordChain } from '../digest/record-chain.js';
import { toWireBoundError, WireBoundError } from '../errors.js';
import type { Geometry } from '../framing/geometry.js';
import type { ChunkSource, SourceIdentity } from '../source/chunk-source.js';
import { KeptChain } from './kept-chain.js';
import type { Pacer } from './pace.js';
import type { PayloadStore } from './payload-store.js';
import { requireWhole, sourceChanged } from './source-changed.js';

/** What an {@link Offer} tells its owner. */
export interface OfferObserver {
  digestKnown(sha256: string, cached: boolean): void;
  /** The hashing pass has come this far. */
  progress(bytes: number, size: number): void;
  warn(message: string): void;
}

/** What an {@link Offer} is made of. */
export interface OfferParts {
  readonly source: ChunkSource;
  readonly geometry: Geometry;
  readonly payloads: PayloadStore;
  readonly pacer: Pacer;
  /** Undefined: chains are neither looked up nor kept. */
  readonly cache: ChainCache | undefined;
  readonly observer: OfferObserver;
}

/**
 * One content of the served file: its source, its chain and the proof that both belong together. When the
 * file is found to have changed, the offer is retired and the server makes another.
 */
export class Offer {
  readonly source: ChunkSource;
  readonly geometry: Geometry;
  readonly payloads: PayloadStore;
  readonly pacer: Pacer;
  /** Identifies this content towards clients. */
  readonly transfer = randomBytes(8).toString('hex');
  readonly #parts: OfferParts;
  readonly #kept: KeptChain;
  readonly #retired = new AbortController();
  readonly #complaints = new Set<number>();
  #chain: Chain;
  #touchTold = false;
  /** What the source looked like when its chain was last found to be right. */
  #identity: SourceIdentity | undefined;
  #settled: Promise<void> = Promise.resolve();
  #recheck: Promise<void> | undefined;
  readonly #passTimes: PassTimes = { sourceMs: 0, digestMs: 0 };

  private constructor(
    parts: OfferParts,
    kept: KeptChain,
    identity: SourceIdentity | undefined,
    known: Uint8Array | undefined,
  ) {
    this.#parts = parts;
    this.#kept = kept;
    setMaxListeners(0, this.#retired.signal); // each client's session listens
    this.source = parts.source;
    this.geometry = parts.geometry;
    this.payloads = parts.payloads;
    this.pacer = parts.pacer;
    this.#identity = identity;
    this.#chain = new Chain(parts.geometry.count, known);
  }

  /**
   * Makes an offer that can be served at once: its chain comes from the cache, or a hashing pass starts.
   * `rehash` does not look into the cache.
   */
  static async open(parts: OfferParts, rehash: boolean): Promise<Offer> {
    const { source, geometry, cache } = parts;
    const identity = await source.identity?.();
    const kept = new KeptChain(cache, geometry);
    const known = rehash ? undefined : await kept.load(identity);
    const offer = new Offer(parts, kept, identity, known);
    source.changed?.addEventListener('abort', () => offer.#retire(sourceChanged(source.name)), {
      once: true,
    });
    offer.#settled = known === undefined ? offer.#firstPass() : Promise.resolve();
    offer.#settled.catch(() => undefined); // sessions wait on it and on the chain
    const { sha256 } = offer.#chain;
    if (known !== undefined && sha256 !== undefined) parts.observer.digestKnown(sha256, true);
    return offer;
  }

  get chain(): Chain {
    return this.#chain;
  }

  /** What the hashing pass mostly waits for: reading, or hashing. */
  get passLimit(): 'sourceMs' | 'digestMs' {
    return this.#passTimes.sourceMs > this.#passTimes.digestMs ? 'sourceMs' : 'digestMs';
  }

  /** Aborted with a SOURCE_CHANGED error once the content is known to be another. */
  get retired(): AbortSignal {
    return this.#retired.signal;
  }

  /** Resolves when the whole chain is known and the file did not change while it was made; End may leave then. */
  async settled(): Promise<void> {
    await this.#settled;
    this.#retired.signal.throwIfAborted();
  }

  /**
   * Throws SOURCE_CHANGED when the file is shorter than what is on offer. Warns once of one that is not what it was:
   * it may have grown, been replaced or removed, and is served as it was.
   */
  async checkSize(): Promise<void> {
    const identity = await this.source.identity?.();
    requireWhole(this.source.name, this.geometry.size, identity);
    if (!this.#chain.complete || this.#touchTold || identity?.key === this.#identity?.key) return;
    this.#touchTold = true;
    this.#parts.observer.warn(
      `${this.source.name} was touched, replaced or removed since it was hashed; clients get what was hashed or an error`,
    );
  }

  /**
   * A client found chunk `index` wrong. If the file looks touched, or this is not the first complaint about
   * that chunk, the file is hashed again while the old chain goes on serving others; resolves when that is
   * done. Another result retires the offer. While the first pass still runs there is no result to compare
   * with: a touched file and a second complaint are proof enough.
   */
  async complain(index: number): Promise<void> {
    const repeated = this.#complaints.has(index);
    this.#complaints.add(index);
    const identity = await this.source.identity?.().catch(() => undefined);
    const touched = identity?.key !== this.#identity?.key;
    if (!this.#chain.complete) {
      if (repeated && touched) this.#retire(sourceChanged(this.source.name));
    } else if (repeated || touched) {
      this.#recheck ??= this.#hashAgain();
      await this.#recheck;
    }
  }

  /** Ends the pass, if one is running, and closes the source. */
  async close(): Promise<void> {
    this.#retire(new WireBoundError('STOPPED', 'the server was stopped'));
    await this.#settled.catch(() => undefined);
    await this.#recheck;
    await this.source.close();
  }

  async #firstPass(): Promise<void> {
    try {
      await this.#record(this.#chain);
      await this.#checkUnchanged();
      const { sha256 } = this.#chain;
      if (sha256 !== undefined) this.#parts.observer.digestKnown(sha256, false);
      await this.#kept.keep(this.#identity, this.#chain.bytes);
    } catch (error) {
      const failure = toWireBoundError(error, 'SOURCE_UNREADABLE');
      this.#chain.fail(failure);
      this.#retire(failure);
      throw failure;
    }
  }

  /** After a pass: if the file's times moved or it grew meanwhile, only a second pass with the same result will do. */
  async #checkUnchanged(): Promise<void> {
    const before = this.#identity;
    const after = await this.source.identity?.();
    if (before?.key === after?.key) return;
    requireWhole(this.source.name, this.geometry.size, after);
    this.#parts.observer.warn(`${this.source.name} was touched while it was hashed; hashing it again`);
    await this.#hashAgain();
    this.#retired.signal.throwIfAborted();
  }

  /** Hashes the file into a second chain and retires the offer if it differs. */
  async #hashAgain(): Promise<void> {
    try {
      const identity = await this.source.identity?.();
      const again = new Chain(this.geometry.count);
      await this.#record(again);
      if (Buffer.compare(again.bytes, this.#chain.bytes) !== 0) throw sourceChanged(this.source.name);
      this.#identity = identity;
    } catch (error) {
      if (this.#retired.signal.aborted) return; // the server stops: that proves nothing against the chain
      this.#retire(toWireBoundError(error, 'SOURCE_UNREADABLE'));
      await this.#kept.forget(this.#identity);
    } finally {
      this.#recheck = undefined;
      this.#complaints.clear();
    }
  }

  async #record(chain: Chain): Promise<void> {
    const pace = (index: number, signal: AbortSignal) => {
      this.#parts.observer.progress(this.geometry.offset(index), this.geometry.size);
      return this.pacer.hold(index, signal);
    };
    await recordChain(this.source, this.geometry, chain, pace, this.#retired.signal, this.#passTimes);
  }

  #retire(reason: WireBoundError): void {
    if (!this.#retired.signal.aborted) this.#retired.abort(reason);
  }
}
