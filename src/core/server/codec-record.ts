/** How much weight the newest outcome has in the averages. */
const WEIGHT = 0.2;
/** A chunk whose so many predecessors all stay raw is not looked at, except for every `RECHECK`th. */
const RUN = 8;
const RECHECK = 4;

/** A codec that has shrunk nothing in so many tries is tried with a chunk now and then only. */
const FRUITLESS = 4;
const RETRY = 64;

const UNKNOWN = 0;
const RAW = 1;
const SHRINKS = 2;
/** Taken to stay raw without a look. */
const SKIPPED = 3;
/** Was skipped, but wrongly, as it seems now. */
const DOUBTED = 4;

/**
 * What one codec has been found to do to one file: which chunks it does not shrink, its ratio and its speed.
 * One byte per chunk.
 */
export class CodecRecord {
  readonly #outcomes: Uint8Array;
  #ratio: number | undefined;
  /** Seconds that a raw byte takes. */
  #pace: number | undefined;
  #abandoned = false;
  /** Tries before the first that shrank something. */
  #fruitless = 0;
  /** Chunks that the codec is at work on, or that wait for it. */
  #underWay = 0;

  constructor(chunks: number) {
    this.#outcomes = new Uint8Array(chunks);
  }

  /** Payload bytes per raw byte where it shrinks, a moving average; undefined before the first. */
  get ratio(): number | undefined {
    return this.#ratio;
  }

  /** Raw bytes per second that are encoded while there is something to encode, a moving average; undefined before the first. */
  get rate(): number | undefined {
    return this.#pace === undefined ? undefined : 1 / this.#pace;
  }

  /** Whether chunk `index` is known, or may be taken, not to shrink: a run of such chunks goes on. */
  staysRaw(index: number): boolean {
    if (this.#abandoned) return true;
    if (this.#outcomes[index] !== UNKNOWN) return this.#isRaw(index);
    if (index < RUN || index % RECHECK === 0) return false;
    for (let before = index - RUN; before < index; before++) {
      if (!this.#isRaw(before)) return false;
    }
    this.#outcomes[index] = SKIPPED;
    return true;
  }

  /** Chunk `index` shrank to `payloadLength` bytes; `seconds`: what it took beyond the encode before. */
  shrank(index: number, rawLength: number, payloadLength: number, seconds: number): void {
    this.#outcomes[index] = SHRINKS;
    // Where a run turns out to be over, what was skipped at its end is looked at for the next client.
    for (let before = Math.max(0, index - RECHECK + 1); before < index; before++) {
      if (this.#outcomes[before] === SKIPPED) this.#outcomes[before] = DOUBTED;
    }
    this.#ratio = average(this.#ratio, payloadLength / rawLength);
    // The mean of times, not of rates: of two encodes that end together one seems to have taken no time at all.
    this.#pace = average(this.#pace, seconds / rawLength);
  }

  /** Chunk `index` does not shrink; `tried`: the codec has shown that, not a look at the chunk. */
  stayed(index: number, tried = true): void {
    this.#outcomes[index] = RAW;
    if (tried) this.#fruitless++;
  }

  /** Does the encoding of a chunk; {@link isWorthTrying} is false meanwhile. */
  async during<T>(work: () => Promise<T>): Promise<T> {
    this.#underWay++;
    try {
      return await work();
    } finally {
      this.#underWay--;
    }
  }

  /** Whether trying chunk `index` would tell what the codec does to this file; not once that is known, or about to be. */
  isWorthTrying(index: number): boolean {
    if (this.#ratio !== undefined || this.#underWay > 0) return false;
    return this.#fruitless < FRUITLESS || index % RETRY === 0;
  }

  /** The codec is not to be used any more: everything stays raw. */
  abandon(): void {
    this.#abandoned = true;
  }

  #isRaw(index: number): boolean {
    return this.#outcomes[index] === RAW || this.#outcomes[index] === SKIPPED;
  }
}

function average(old: number | undefined, latest: number): number {
  return old === undefined ? latest : old + WEIGHT * (latest - old);
}
