/** How much weight the newest outcome has in the average ratio. */
const RATIO_WEIGHT = 0.2;
/**
 * What is taken to be the pace before there was an encode counts as so many of them, and encodes of long ago fade: a mean of
 * this many. A single encode that had to wait for a processor takes ten times as long as others, and must not say that
 * the codec is slow.
 */
const OPINION = 4;
const PACE_ENCODES = 32;
/** A codec that has shrunk nothing in so many tries is tried with a chunk now and then only. */
const FRUITLESS = 4;
const RETRY = 64;

/** What a codec is taken to encode before it has shown it, raw bytes per second. */
export const TYPICAL_RATE = 4e8;
/** A rate is believed for so many times as long as the encode took, but at least so long; milliseconds. */
const TRUST_ENCODES = 64;
const LEAST_TRUST_MS = 100;

/**
 * What one codec has been found to do to one file: which chunks it does not shrink, its ratio and its speed.
 * One byte per chunk.
 */
export class CodecRecord {
  /** 1 for each chunk that does not shrink. */
  readonly #raw: Uint8Array;
  #ratio: number | undefined;
  /** Seconds that a raw byte takes. */
  #pace: number | undefined;
  /** Encodes that are in it. */
  #encodes = 0;
  /** Until when that is believed, on the monotonic clock, milliseconds. */
  #believedUntil = 0;
  #abandoned = false;
  /** Tries before the first that shrank something. */
  #fruitless = 0;

  constructor(chunks: number) {
    this.#raw = new Uint8Array(chunks);
  }

  /** Payload bytes per raw byte where it shrinks, a moving average; undefined before the first. */
  get ratio(): number | undefined {
    return this.#ratio;
  }

  /**
   * Raw bytes per second that are encoded while there is something to encode, a moving average; undefined before the
   * first, and when the last encode is long ago: the processors may have been busy with something else then.
   */
  get rate(): number | undefined {
    if (this.#pace === undefined || performance.now() > this.#believedUntil) return undefined;
    return 1 / this.#pace;
  }

  /** Whether chunk `index` is known not to shrink. */
  staysRaw(index: number): boolean {
    return this.#abandoned || this.#raw[index] === 1;
  }

  /** A chunk shrank to `payloadLength` bytes; `seconds`: what it took beyond the encode before. */
  shrank(rawLength: number, payloadLength: number, seconds: number): void {
    this.#ratio = average(this.#ratio, payloadLength / rawLength, RATIO_WEIGHT);
    // The mean of times, not of rates: of two encodes that end together one seems to have taken no time at all.
    // The first encode may have met a busy machine: it is only one of several opinions.
    const rate = this.rate;
    this.#encodes = rate === undefined ? 1 : this.#encodes + 1;
    const weight = 1 / Math.min(PACE_ENCODES, OPINION + this.#encodes);
    this.#pace = average(1 / (rate ?? TYPICAL_RATE), seconds / rawLength, weight);
    this.#believedUntil = performance.now() + Math.max(LEAST_TRUST_MS, TRUST_ENCODES * seconds * 1000);
  }

  /** Chunk `index` does not shrink; `tried`: the codec has shown that, not a look at the chunk. */
  stayed(index: number, tried = true): void {
    this.#raw[index] = 1;
    if (tried) this.#fruitless++;
  }

  /** Whether trying chunk `index` would tell what the codec does to this file; not once that is known. */
  isWorthTrying(index: number): boolean {
    if (this.#ratio !== undefined) return false;
    return this.#fruitless < FRUITLESS || index % RETRY === 0;
  }

  /** The codec is not to be used any more: everything stays raw. */
  abandon(): void {
    this.#abandoned = true;
  }
}

function average(old: number | undefined, latest: number, weight: number): number {
  return old === undefined ? latest : old + weight * (latest - old);
}
