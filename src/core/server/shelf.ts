import type { Codec } from '../codec/codec.js';
import type { ChainCache } from '../digest/chain-cache.js';
import { WireBoundError } from '../errors.js';
import { Geometry } from '../framing/geometry.js';
import type { ChunkSource } from '../source/chunk-source.js';
import { usableMemory } from '../usable-memory.js';
import { Offer, type OfferObserver } from './offer.js';
import { Pacer } from './pace.js';
import { PayloadStore, type PayloadStoreOptions } from './payload-store.js';

/** The share of the machine's memory that the page cache is trusted to hold. */
const PAGE_CACHE_SHARE = 0.5;

/** How a shelf is filled. */
export interface ShelfOptions {
  /** The opened source; the shelf closes it. */
  readonly source: ChunkSource;
  /** Opens the same reference again, after its content has changed. */
  reopen(): Promise<ChunkSource>;
  readonly chunkSize: number;
  /** What chunks may be encoded with; none: everything travels raw. */
  readonly codecs: readonly Codec[];
  /** Bytes for encoded and read chunks that clients share. */
  readonly cacheBytes: number;
  readonly encodeTimeoutMs?: PayloadStoreOptions['encodeTimeoutMs'];
  /** Undefined: chains are not kept. */
  readonly cache: ChainCache | undefined;
  /** Does not trust the cache for the first offer. */
  readonly rehash: boolean;
  readonly observer: OfferObserver;
}

/** Where the server takes its current offer from: one content at a time, the next one when that has changed. */
export class Shelf {
  readonly #options: ShelfOptions;
  #current: Promise<Offer> | undefined;
  #source: ChunkSource | undefined;
  #rehash: boolean;
  readonly #failedCodecs = new Set<Codec>();
  #closed = false;

  constructor(options: ShelfOptions) {
    this.#options = options;
    this.#source = options.source;
    this.#rehash = options.rehash;
  }

  /** The offer to serve now. Rejects with what is wrong with the source; the next call tries again. */
  async current(): Promise<Offer> {
    if (this.#closed) throw new WireBoundError('STOPPED', 'the server was stopped');
    this.#current ??= this.#open();
    const opening = this.#current;
    const offer = await opening;
    if (!offer.retired.aborted) return offer;
    if (this.#current === opening) {
      this.#current = undefined;
      offer.close().catch(() => undefined); // nobody needs that source any more
    }
    return this.current();
  }

  /** Closes what is on offer; nothing is opened after that. */
  async close(): Promise<void> {
    this.#closed = true;
    const offer = await this.#current?.catch(() => undefined);
    await (offer?.close() ?? this.#source?.close());
  }

  async #open(): Promise<Offer> {
    try {
      const source = this.#source ?? (await this.#options.reopen());
      this.#source = undefined;
      return await this.#make(source).catch(async (error: unknown) => {
        await source.close().catch(() => undefined);
        throw error;
      });
    } catch (error) {
      this.#current = undefined;
      throw error;
    }
  }

  async #make(source: ChunkSource): Promise<Offer> {
    const { chunkSize, codecs, cacheBytes, encodeTimeoutMs, cache, observer } = this.#options;
    const geometry = new Geometry(source.size, chunkSize);
    const payloads = new PayloadStore(source, geometry, codecs, {
      capacity: cacheBytes,
      encodeTimeoutMs,
      onCodecFailure: ({ message }, index, codec) =>
        this.#warnOnce(codec, `${message} (chunk ${index} of ${geometry.count}); it is sent raw`),
    });
    const pacer = new Pacer(geometry, usableMemory() * PAGE_CACHE_SHARE);
    const rehash = this.#rehash;
    this.#rehash = false;
    return Offer.open({ source, geometry, payloads, pacer, cache, observer }, rehash);
  }

  #warnOnce(codec: Codec, message: string): void {
    if (this.#failedCodecs.has(codec)) return;
    this.#failedCodecs.add(codec);
    this.#options.observer.warn(message);
  }
}
