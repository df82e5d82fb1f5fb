import type { ChainCache } from '../digest/chain-cache.js';
import type { Geometry } from '../framing/geometry.js';
import type { SourceIdentity } from '../source/chunk-source.js';

/** A file that changed within this time may change again without its times moving. */
const SETTLED_AFTER_MS = 2_000;

/** The place in the cache for chains of one geometry; contents without an identity are neither looked up nor kept. */
export class KeptChain {
  readonly #cache: ChainCache | undefined;
  readonly #geometry: Geometry;

  /** Without a cache nothing is found and nothing is kept. */
  constructor(cache: ChainCache | undefined, geometry: Geometry) {
    this.#cache = cache;
    this.#geometry = geometry;
  }

  async load(identity: SourceIdentity | undefined): Promise<Uint8Array | undefined> {
    if (identity === undefined) return undefined;
    return await this.#cache?.load(identity.key, this.#geometry.size, this.#geometry.chunkSize);
  }

  /** Keeps the whole chain, unless the file has changed a moment ago. */
  async keep(identity: SourceIdentity | undefined, chain: Uint8Array): Promise<void> {
    if (identity === undefined || Date.now() - identity.changedAtMs < SETTLED_AFTER_MS) return;
    const { size, chunkSize } = this.#geometry;
    await this.#cache?.store(identity.key, size, chunkSize, chain);
  }

  async forget(identity: SourceIdentity | undefined): Promise<void> {
    if (identity !== undefined) await this.#cache?.remove(identity.key, this.#geometry.chunkSize);
  }
}
