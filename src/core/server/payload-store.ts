import type { Codec } from '../codec/codec.js';
import { encodeChunk } from '../codec/encode-chunk.js';
import { readWhole } from '../digest/record-chain.js';
import type { WireBoundError } from '../errors.js';
import type { Geometry } from '../framing/geometry.js';
import type { ChunkSource } from '../source/chunk-source.js';
import { CodecRecord } from './codec-record.js';
import { looksRandom } from './looks-random.js';
import { SharedBytes } from './shared-bytes.js';
import { Turnstile } from './turnstile.js';

/** Bytes of a chunk that are looked at before it is encoded. */
const SAMPLE = 2 * 1024;
/**
 * Every so many chunks one is encoded whatever its sample looks like: repeats do not show in a sample. The first codec does it:
 * where that finds none, another would do more work for as little.
 */
const TRY_ANYWAY = 64;
/** After so many chunks in a row that looked random, only every so many of the next ones is looked at. */
const LONG_STRETCH = 256;
const LOOK_EVERY = 8;
/** Chunks being encoded at the same time: enough for all cores, bounded in number and in bytes. */
const MOST_ENCODES = 8;
const ENCODE_BYTES = 32 * 1024 * 1024;

/**
 * Bytes for chunks that were read because their source lends nothing: enough for clients that are close to each
 * other. Reading one again costs little, from the page cache; keeping them all would be a second page cache.
 */
const READ_CAPACITY = 64 * 1024 * 1024;

/** One chunk ready to travel. */
export interface Payload {
  /** 0: raw; otherwise the number of the store's codec, from 1. */
  readonly codec: number;
  /** Not to be read by anyone but the kernel: it may be pages on loan. */
  readonly bytes: Uint8Array;
  /** Gives the bytes back; exactly once, after the kernel has taken them. */
  release(): void;
}

/** What to expect of a chunk under a codec. */
export interface Forecast {
  /** Payload bytes; a guess from other chunks unless it is `ready`. */
  readonly length: number;
  /** It is encoded already, or being encoded for somebody else. */
  readonly ready: boolean;
  /** Raw bytes per second one encode makes; undefined before the first. */
  readonly encodeRate: number | undefined;
  /** Nothing is known yet of what this codec does to this file. */
  readonly untried: boolean;
}

/** How a store is made. */
export interface PayloadStoreOptions {
  /** Bytes for encoded chunks, and for read ones as far as those need it; those on their way to clients included. */
  readonly capacity: number;
  /** How long a codec may take over one chunk, milliseconds (30 s); one that takes longer is not asked again. */
  readonly encodeTimeoutMs?: number | undefined;
  /** A codec threw or broke its contract; the chunk travels raw. */
  onCodecFailure(failure: WireBoundError, index: number, codec: Codec): void;
}

/**
 * Chunks of one source as payloads, each read and encoded once for all clients. Raw chunks of a source that
 * lends pages are not kept; everything else is shared while there is room. Where encoding would go beyond the
 * capacity, or does not pay, a chunk travels raw.
 */
export class PayloadStore {
  readonly #source: ChunkSource;
  readonly #geometry: Geometry;
  readonly #codecs: readonly Codec[];
  readonly #records: readonly CodecRecord[];
  readonly #cache: SharedBytes;
  readonly #reads: SharedBytes;
  readonly #options: PayloadStoreOptions;
  readonly #scratch: Uint8Array[] = [];
  readonly #encodes: Turnstile;
  /** Chunks in a row that looked random, up to the last one looked at. */
  #stretch = 0;
  /** Samples are not believed for chunks before this one: the last one misled. */
  #believeFrom = 0;
  /** What encoding has taken in all: reading the chunks, and the codec; milliseconds. */
  #readMs = 0;
  #encodeMs = 0;
  /** When the last encode ended, on the monotonic clock, milliseconds. */
  #encodedAt = 0;

  constructor(
    source: ChunkSource,
    geometry: Geometry,
    codecs: readonly Codec[],
    options: PayloadStoreOptions,
  ) {
    this.#source = source;
    this.#geometry = geometry;
    this.#codecs = codecs;
    this.#records = codecs.map(() => new CodecRecord(geometry.count));
    this.#cache = new SharedBytes(options.capacity);
    this.#reads = new SharedBytes(Math.min(options.capacity, READ_CAPACITY));
    this.#options = options;
    const places = Math.floor(ENCODE_BYTES / geometry.chunkSize);
    this.#encodes = new Turnstile(Math.max(1, Math.min(MOST_ENCODES, places)));
  }

  /** Whether clients hold so much that nobody should ask ahead. */
  get tight(): boolean {
    return this.#cache.tight || this.#reads.tight;
  }

  /** What encoding mostly waits for: reading the chunks, or the codec. */
  get encodeLimit(): 'sourceMs' | 'codecMs' {
    return this.#readMs > this.#encodeMs ? 'sourceMs' : 'codecMs';
  }

  /** Chunk `index` under a codec (0: raw); it comes raw where that is not shorter. Rejects with what the source says. */
  async payload(index: number, codec: number): Promise<Payload> {
    return (await this.#encoded(index, codec)) ?? (await this.#lend(index)) ?? (await this.#read(index));
  }

  /** What chunk `index` would be under a codec (from 1); undefined when it would, or may be taken to, travel raw anyway. */
  forecast(index: number, codec: number): Forecast | undefined {
    const record = this.#records[codec - 1];
    if (record === undefined || record.staysRaw(index)) return undefined;
    const key = encodedKey(index, codec);
    const untried = record.isWorthTrying(index);
    if (record.ratio === undefined && !untried) return undefined;
    const guess = this.#geometry.rawLength(index) * (record.ratio ?? 0.5);
    return {
      length: this.#cache.sizeOf(key) ?? guess,
      ready: this.#cache.has(key),
      encodeRate: record.rate,
      untried,
    };
  }

  async #encoded(index: number, number: number): Promise<Payload | undefined> {
    const [codec, record] = [this.#codecs[number - 1], this.#records[number - 1]];
    if (codec === undefined || record === undefined || record.staysRaw(index)) return undefined;
    if (this.#stretch >= LONG_STRETCH && index % LOOK_EVERY !== 0) return undefined;
    const key = encodedKey(index, number);
    if (this.#cache.tight && !this.#cache.has(key)) return undefined;
    const pinned = await this.#cache.get(key, () =>
      this.#encodes.pass(() => this.#encode(codec, record, index)),
    );
    return pinned && { codec: number, ...pinned };
  }

  async #lend(index: number): Promise<Payload | undefined> {
    const loan = await this.#source.lend?.(this.#geometry.offset(index), this.#geometry.rawLength(index));
    return loan && { codec: 0, bytes: loan.bytes, release: () => loan.release() };
  }

  async #read(index: number): Promise<Payload> {
    const pinned = await this.#reads.get(String(index), async () => {
      const chunk = new Uint8Array(this.#geometry.rawLength(index));
      await readWhole(this.#source, this.#geometry.offset(index), chunk);
      return chunk;
    });
    return { codec: 0, ...(pinned as NonNullable<typeof pinned>) };
  }

  async #encode(codec: Codec, record: CodecRecord, index: number): Promise<Uint8Array | undefined> {
    // Things may have changed while it waited for its turn.
    if (this.#cache.tight || record.staysRaw(index)) return undefined;
    const buffer = this.#scratch.pop() ?? new Uint8Array(this.#geometry.chunkSize);
    const chunk = buffer.subarray(0, this.#geometry.rawLength(index));
    let reusable = true;
    try {
      const startedAt = performance.now();
      const random = await this.#seemsRandom(index, chunk);
      const anyway = (codec === this.#codecs[0] && index % TRY_ANYWAY === 0) || index < this.#believeFrom;
      this.#stretch = random ? this.#stretch + 1 : 0;
      if (random && !anyway) {
        record.stayed(index, false);
        return undefined;
      }
      await readWhole(this.#source, this.#geometry.offset(index), chunk);
      const readAt = performance.now();
      const result = await encodeChunk(codec, chunk, this.#options.encodeTimeoutMs);
      const encodedAt = performance.now();
      const previous = this.#encodedAt;
      this.#encodedAt = encodedAt;
      this.#readMs += readAt - startedAt;
      this.#encodeMs += encodedAt - readAt;
      if (result.encoded) {
        // Encodes overlap: what counts is how soon after another one this one came.
        const seconds = (encodedAt - Math.max(readAt, previous)) / 1000;
        record.shrank(chunk.length, result.bytes.length, seconds);
        if (random) this.#disbelieveSamples(index);
        return compact(result.bytes);
      }
      reusable = result.unanswered !== true;
      if (reusable) record.stayed(index);
      else record.abandon();
      if (result.failure !== undefined) this.#options.onCodecFailure(result.failure, index, codec);
      return undefined;
    } finally {
      if (reusable) this.#scratch.push(buffer);
    }
  }

  /** Chunk `index` looked random and shrank all the same. */
  #disbelieveSamples(index: number): void {
    this.#believeFrom = index + 2 * TRY_ANYWAY;
    this.#stretch = 0;
  }

  /** A look at the middle of a chunk; `chunk` is only used as memory. */
  async #seemsRandom(index: number, chunk: Uint8Array): Promise<boolean> {
    if (chunk.length <= SAMPLE) return false;
    const middle = Math.floor((chunk.length - SAMPLE) / 2);
    const sample = chunk.subarray(0, SAMPLE);
    await readWhole(this.#source, this.#geometry.offset(index) + middle, sample);
    return looksRandom(sample);
  }
}

function encodedKey(index: number, codec: number): string {
  return `${codec} ${index}`;
}

/** The same bytes without the rest of a larger allocation behind them, which would be kept with them. */
function compact(bytes: Uint8Array): Uint8Array {
  return bytes.buffer.byteLength > 2 * bytes.length ? Uint8Array.from(bytes) : bytes;
}
