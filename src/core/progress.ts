interface Sample {
  readonly atMs: number;
  readonly bytes: number;
}

/** Samples closer together than this share of the window replace each other, so that memory is bounded. */
const SAMPLES_PER_WINDOW = 20;
/** A rate over less time than this is noise. */
const SHORTEST_MS = 100;

/**
 * How fast a growing byte count grows, over a sliding window. The clock is monotonic, in milliseconds
 * (`performance.now`); a count that stands still tends to a rate of 0 as time passes.
 */
export class RateMeter {
  readonly #nowMs: () => number;
  readonly #windowMs: number;
  #samples: Sample[];
  #latest: number;

  constructor(nowMs: () => number, windowMs = 5000, startBytes = 0) {
    this.#nowMs = nowMs;
    this.#windowMs = windowMs;
    this.#latest = startBytes;
    this.#samples = [{ atMs: nowMs(), bytes: startBytes }];
  }

  /** The byte count most recently given. */
  get bytes(): number {
    return this.#latest;
  }

  /** Takes the byte count so far. One that went down (work starts again) starts the measurement again. */
  update(bytes: number): void {
    const atMs = this.#nowMs();
    if (bytes < this.#latest) this.#samples = [];
    this.#latest = bytes;
    const last = this.#samples.at(-1);
    if (last === undefined || atMs - last.atMs >= this.#windowMs / SAMPLES_PER_WINDOW) {
      this.#samples.push({ atMs, bytes });
    }
    this.#forget(atMs);
  }

  /** Bytes per second; undefined until there has been a tenth of a second to measure. */
  rate(): number | undefined {
    const atMs = this.#nowMs();
    this.#forget(atMs);
    const base = this.#samples[0];
    if (base === undefined || atMs - base.atMs < SHORTEST_MS) return undefined;
    return ((this.#latest - base.bytes) * 1000) / (atMs - base.atMs);
  }

  /** Seconds until the count reaches `total`: 0 when it has, undefined while nothing moves. */
  etaSeconds(total: number): number | undefined {
    if (this.#latest >= total) return 0;
    const rate = this.rate();
    return rate === undefined || rate <= 0 ? undefined : (total - this.#latest) / rate;
  }

  /** Keeps one sample from before the window as the base of the rate. */
  #forget(atMs: number): void {
    const windowStart = atMs - this.#windowMs;
    while ((this.#samples[1]?.atMs ?? Number.POSITIVE_INFINITY) <= windowStart) this.#samples.shift();
  }
}
