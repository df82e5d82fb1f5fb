/** How much weight the newest outcome has in the averages. */
const WEIGHT = 0.2;
/** A chunk whose so many predecessors all stay raw is not looked at, except for every `RECHECK`th. */
const RUN = 8;
const RECHECK = 4;

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
  #rate: number | undefined;
  #abandoned = false;

  constructor(chunks: number) {
    this.#outcomes = new Uint8Array(chunks);
  }

  /** Payload bytes per raw byte where it shrinks, a moving average; undefined before the first. */
  get ratio(): number | undefined {
    return this.#ratio;
  }

  /** Raw bytes per second that one encode makes, a moving average; undefined before the first. */
  get rate(): number | undefined {
    return this.#rate;
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

  /** Chunk `index` shrank to `payloadLength` bytes, in `seconds`. */
  shrank(index: number, rawLength: number, payloadLength: number, seconds: number): void {
    this.#outcomes[index] = SHRINKS;
    // Where a run turns out to be over, what was skipped at its end is looked at for the next client.
    for (let before = Math.max(0, index - RECHECK + 1); before < index; before++) {
      if (this.#outcomes[before] === SKIPPED) this.#outcomes[before] = DOUBTED;
    }
    this.#ratio = average(this.#ratio, payloadLength / rawLength);
    this.#rate = average(this.#rate, rawLength / seconds);
  }

  /** Chunk `index` does not shrink. */
  stayed(index: number): void {
    this.#outcomes[index] = RAW;
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
