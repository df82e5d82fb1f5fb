import { ReadCoverage } from './read-coverage.js';

/** What is made resident in one go; divides the stride of windows. */
export const STRIPE_SIZE = 8 * 2 ** 20;
/** Stripes that are fetched before they are asked for; fewer where so many such windows would not fit into memory. */
const STRIPES_AHEAD = 2;
const READERS = 16;
/** Fetching ahead stops while so many stripes are on their way: the pool has four threads. */
const MAX_FETCHING_AHEAD = 4;
/** Pages that were touched this recently are taken to be in memory still. */
const FRESH_MS = 2000;

/**
 * Knows which stripes of a file were in memory a moment ago, and brings in those that were not: once for
 * everyone who waits, and a little ahead of whoever reads in order.
 */
export class Residency {
  readonly #stripes: number;
  readonly #size: number;
  readonly #fetch: (offset: number, length: number) => Promise<boolean>;
  readonly #now: () => number;
  readonly #capacity: number;
  readonly #ahead: number;
  readonly #freshAt: Float64Array;
  /** Bytes that had been brought in by then. */
  readonly #freshBytes: Float64Array;
  #broughtIn = 0;
  readonly #fetching = new Map<number, Promise<boolean>>();
  readonly #coverage: ReadCoverage;

  /**
   * `fetch` makes a span resident off this thread and resolves to whether it could; it never rejects. After `capacity`
   * bytes that were brought in, what came before them may have had to make way.
   * `now`: a monotonic clock in milliseconds.
   */
  constructor(
    size: number,
    capacity: number,
    fetch: (offset: number, length: number) => Promise<boolean>,
    now: () => number = () => performance.now(),
  ) {
    this.#size = size;
    this.#stripes = Math.ceil(size / STRIPE_SIZE);
    this.#capacity = capacity;
    this.#ahead = Math.min(STRIPES_AHEAD, Math.floor(capacity / (READERS * STRIPE_SIZE)));
    this.#fetch = fetch;
    this.#now = now;
    this.#freshAt = new Float64Array(this.#stripes).fill(Number.NEGATIVE_INFINITY);
    this.#freshBytes = new Float64Array(this.#stripes);
    this.#coverage = new ReadCoverage(size, STRIPE_SIZE);
  }

  /** Whether the span is resident, as far as one can know; starts fetching what follows it. Costs next to nothing. */
  check(offset: number, length: number): boolean {
    const oldest = this.#now() - FRESH_MS;
    const last = stripeOf(offset + length - 1);
    let fresh = true;
    for (let stripe = stripeOf(offset); stripe <= last; stripe += 1) {
      fresh &&= this.#isFresh(stripe, oldest);
    }
    // What is asked for now goes first.
    if (fresh) this.#fetchAhead(last, oldest);
    return fresh;
  }

  /** Somebody reads in order and has come to `offset`: starts fetching what follows. */
  expect(offset: number): void {
    this.#fetchAhead(stripeOf(offset), this.#now() - FRESH_MS);
  }

  /** Makes the span resident; false when that failed for a part of it. */
  async ensure(offset: number, length: number): Promise<boolean> {
    const oldest = this.#now() - FRESH_MS;
    const last = stripeOf(offset + length - 1);
    const waits: Promise<boolean>[] = [];
    for (let stripe = stripeOf(offset); stripe <= last; stripe += 1) {
      if (!this.#isFresh(stripe, oldest)) waits.push(this.#fetchOnce(stripe));
    }
    this.#fetchAhead(last, oldest);
    return (await Promise.all(waits)).every(Boolean);
  }

  /** Counts bytes that came in by reading; a stripe that was read completely is as good as fetched. */
  noteRead(offset: number, length: number): void {
    if (length <= 0) return;
    for (const stripe of this.#coverage.add(offset, length)) this.#noteFresh(stripe);
  }

  /** Waits until nothing is being fetched any more. */
  async settle(): Promise<void> {
    await Promise.all(this.#fetching.values());
  }

  #isFresh(stripe: number, oldest: number): boolean {
    const since = this.#broughtIn - (this.#freshBytes[stripe] ?? 0);
    return since <= this.#capacity && (this.#freshAt[stripe] ?? Number.NEGATIVE_INFINITY) >= oldest;
  }

  #noteFresh(stripe: number): void {
    this.#broughtIn += STRIPE_SIZE;
    this.#freshBytes[stripe] = this.#broughtIn;
    this.#freshAt[stripe] = this.#now();
  }

  #fetchAhead(last: number, oldest: number): void {
    const end = Math.min(last + this.#ahead, this.#stripes - 1);
    for (let stripe = last + 1; stripe <= end; stripe += 1) {
      if (this.#fetching.size >= MAX_FETCHING_AHEAD) return;
      if (!this.#isFresh(stripe, oldest)) void this.#fetchOnce(stripe);
    }
  }

  #fetchOnce(stripe: number): Promise<boolean> {
    let fetching = this.#fetching.get(stripe);
    if (fetching === undefined) {
      fetching = this.#fetchStripe(stripe);
      this.#fetching.set(stripe, fetching);
    }
    return fetching;
  }

  async #fetchStripe(stripe: number): Promise<boolean> {
    const offset = stripe * STRIPE_SIZE;
    const resident = await this.#fetch(offset, Math.min(STRIPE_SIZE, this.#size - offset));
    this.#fetching.delete(stripe);
    if (resident) this.#noteFresh(stripe);
    return resident;
  }
}

function stripeOf(offset: number): number {
  return Math.floor(offset / STRIPE_SIZE);
}
