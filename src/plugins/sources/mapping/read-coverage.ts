/** Granularity of what is counted as read; chunks are multiples of it. */
const UNIT = 4096;
/** Stripes that may be half read at once; the one begun first is forgotten beyond that. */
const MAX_PARTIAL = 64;

/** Tells from reads of any order and size when a stripe of a file has been read completely. */
export class ReadCoverage {
  readonly #size: number;
  readonly #stripeSize: number;
  readonly #partial = new Map<number, { readonly units: Uint8Array; missing: number }>();

  /** `size`: bytes of the file; `stripeSize`: a multiple of 4 KiB. */
  constructor(size: number, stripeSize: number) {
    this.#size = size;
    this.#stripeSize = stripeSize;
  }

  /** Counts a read and returns the stripes that it made complete; they start again from nothing. */
  add(offset: number, length: number): number[] {
    const complete: number[] = [];
    const end = offset + length;
    const last = Math.floor((end - 1) / this.#stripeSize);
    for (let stripe = Math.floor(offset / this.#stripeSize); stripe <= last; stripe += 1) {
      const start = stripe * this.#stripeSize;
      const stripeEnd = Math.min(start + this.#stripeSize, this.#size);
      if (this.#mark(stripe, offset - start, Math.min(end, stripeEnd) - start, stripeEnd - start)) {
        this.#partial.delete(stripe);
        complete.push(stripe);
      }
    }
    return complete;
  }

  #mark(stripe: number, from: number, to: number, length: number): boolean {
    const first = Math.ceil(Math.max(0, from) / UNIT);
    // A unit that is only partly read does not count, except the last of the file.
    const limit = to === length ? Math.ceil(to / UNIT) : Math.floor(to / UNIT);
    const state = this.#state(stripe, Math.ceil(length / UNIT));
    for (let unit = first; unit < limit; unit += 1) {
      if (state.units[unit] === 0) state.missing -= 1;
      state.units[unit] = 1;
    }
    return state.missing === 0;
  }

  #state(stripe: number, units: number): { readonly units: Uint8Array; missing: number } {
    let state = this.#partial.get(stripe);
    if (state === undefined) {
      state = { units: new Uint8Array(units), missing: units };
      this.#partial.set(stripe, state);
      const [oldest] = this.#partial.keys();
      if (this.#partial.size > MAX_PARTIAL && oldest !== undefined) this.#partial.delete(oldest);
    }
    return state;
  }
}
