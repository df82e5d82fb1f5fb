import type { Codec } from '../codec/codec.js';
import { encodeChunk } from '../codec/encode-chunk.js';
import { readWhole } from '../digest/record-chain.js';
import type { WireBoundError } from '../errors.js';
import type { Geometry } from '../framing/geometry.js';
import type { ChunkSource } from '../source/chunk-source.js';

/** One chunk ready to travel. */
export interface Payload {
  /** 0: raw; 1: encoded by the store's codec. */
  readonly codec: 0 | 1;
  /** Not to be read by anyone but the kernel: it may be pages on loan. */
  readonly bytes: Uint8Array;
  /** Gives the bytes back; exactly once, after the kernel has taken them. */
  release(): void;
}

/** A chunk in the cache, being made or made. */
interface Slot {
  /** Undefined: encoding does not pay, the chunk travels raw. */
  readonly bytes: Promise<Uint8Array | undefined>;
  /** 0 until it is made. */
  size: number;
  /** Payloads handed out and not yet released. */
  pins: number;
}

/**
 * Chunks of one source as payloads, each read and encoded once for all clients. Raw chunks of a source that
 * lends pages are not kept; everything else, and the decision that a chunk travels raw, stays in a cache of at
 * most `capacity` bytes (beyond what is pinned by clients), least recently used out first.
 */
export class PayloadStore {
  readonly #source: ChunkSource;
  readonly #geometry: Geometry;
  readonly #codec: Codec | undefined;
  readonly #capacity: number;
  readonly #onCodecFailure: (failure: WireBoundError, index: number) => void;
  readonly #slots = new Map<string, Slot>();
  /** 1 where a chunk was found not to shrink. */
  readonly #staysRaw: Uint8Array;
  readonly #scratch: Uint8Array[] = [];
  #cachedBytes = 0;

  /** `codec` undefined: everything travels raw. */
  constructor(
    source: ChunkSource,
    geometry: Geometry,
    codec: Codec | undefined,
    options: { readonly capacity: number; onCodecFailure(failure: WireBoundError, index: number): void },
  ) {
    this.#source = source;
    this.#geometry = geometry;
    this.#codec = codec;
    this.#capacity = options.capacity;
    this.#onCodecFailure = options.onCodecFailure;
    this.#staysRaw = new Uint8Array(codec === undefined ? 0 : geometry.count);
  }

  /** Chunk `index`, encoded if `mayEncode` and it shrinks. Rejects with what the source says. */
  async payload(index: number, mayEncode: boolean): Promise<Payload> {
    if (this.#codec !== undefined && mayEncode && this.#staysRaw[index] === 0) {
      const codec = this.#codec;
      const encoded = await this.#cached(`encoded ${index}`, 1, () => this.#encode(codec, index));
      if (encoded !== undefined) return encoded;
      this.#staysRaw[index] = 1;
    }
    return (await this.#lend(index)) ?? (await this.#read(index));
  }

  async #lend(index: number): Promise<Payload | undefined> {
    const loan = await this.#source.lend?.(this.#geometry.offset(index), this.#geometry.rawLength(index));
    return loan && { codec: 0, bytes: loan.bytes, release: () => loan.release() };
  }

  async #read(index: number): Promise<Payload> {
    const payload = await this.#cached(`raw ${index}`, 0, async () => {
      const chunk = new Uint8Array(this.#geometry.rawLength(index));
      await readWhole(this.#source, this.#geometry.offset(index), chunk);
      return chunk;
    });
    return payload as Payload;
  }

  /** Finds or makes a slot, and pins it for one payload. */
  async #cached(
    key: string,
    codec: 0 | 1,
    make: () => Promise<Uint8Array | undefined>,
  ): Promise<Payload | undefined> {
    const slot = this.#slots.get(key) ?? { bytes: make(), size: 0, pins: 0 };
    this.#slots.delete(key);
    this.#slots.set(key, slot); // last in the map: most recently used
    slot.pins++;
    const bytes = await slot.bytes.catch((error: unknown) => {
      this.#slots.delete(key); // the next client tries again
      throw error;
    });
    if (bytes === undefined) {
      this.#slots.delete(key);
      return undefined;
    }
    if (slot.size === 0) {
      slot.size = bytes.length;
      this.#cachedBytes += bytes.length;
      this.#evict();
    }
    return { codec, bytes, release: () => this.#unpin(slot) };
  }

  #unpin(slot: Slot): void {
    slot.pins--;
    this.#evict();
  }

  #evict(): void {
    if (this.#cachedBytes <= this.#capacity) return;
    for (const [key, slot] of this.#slots) {
      if (slot.pins > 0 || slot.size === 0) continue;
      this.#slots.delete(key);
      this.#cachedBytes -= slot.size;
      if (this.#cachedBytes <= this.#capacity) return;
    }
  }

  async #encode(codec: Codec, index: number): Promise<Uint8Array | undefined> {
    const buffer = this.#scratch.pop() ?? new Uint8Array(this.#geometry.chunkSize);
    const chunk = buffer.subarray(0, this.#geometry.rawLength(index));
    await readWhole(this.#source, this.#geometry.offset(index), chunk);
    const result = await encodeChunk(codec, chunk);
    this.#scratch.push(buffer);
    if (result.encoded) return result.bytes;
    if (result.failure !== undefined) this.#onCodecFailure(result.failure, index);
    return undefined;
  }
}
