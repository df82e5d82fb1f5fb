import type { ClientKeepalive } from '../framing/messages.js';

/**
 * An interval is telling if the client's digest thread waited for bytes for more than this share of it, so that the link
 * was the limit, and if the client had nothing else to do for so many seconds: less may be nothing but a process that had
 * to wait for its turn. Where the server had little time for the client, more must show.
 */
const TELLING = { starved: 0.4, idleS: 0.004 };
const TELLING_BEHIND_SERVER = { starved: 0.6, idleS: 0.02 };
/** A measurement has the link for itself: there the digest thread need not have waited. */
const TELLING_MEASUREMENT = { starved: 0, idleS: 0.004 };
const LEAST_BYTES = 64 * 1024;
/** So many bytes travel without the server's doing: in a measurement of that size it does not matter that it had no time. */
const LARGE_BYTES = 1024 * 1024;
/**
 * A rate is believed for so many times as long as measuring it took, and for twice as long as the one before: what
 * measuring costs stays a small share. Seconds at least and at most.
 */
const TRUST_INTERVALS = 100;
const LEAST_TRUST_S = 0.1;
const LONGEST_TRUST_S = 10;
/**
 * That a link carries more than was measured must show over this long, microseconds: after a pause of the client
 * its kernel hands out at once what came in the meantime.
 */
const LEAST_RISE_US = 20_000;
/** And it must be by this factor; anything less is noise, and no reason to measure anew. */
const LEAST_RISE = 1.25;
/** Two measurements agree if they differ at most by this factor. */
const SAME_RATE = 2;

/**
 * What the link to one client carries, from the client's reports: of measurements, and of what came in while its digest
 * thread starved. A client that has work of its own, or no processor, takes bytes in late without the link being slow: the
 * link is taken to be as fast as those bytes in the time in which the client had nothing to do, and nothing is known
 * where that was short. While the client is the limit, the link carries at least what it takes.
 */
export class LinkRate {
  readonly #now: () => number;
  /** Reports of the last `LEAST_RISE_US`, and the one before them. */
  readonly #recent: ClientKeepalive[] = [];
  #value = Number.POSITIVE_INFINITY;
  #measuredValue = 0;
  #confirmed = false;
  /** For how long the last rate that was measured is believed, seconds; 0 after a sign that the link is faster. */
  #trustS = 0;
  #trustedUntil = 0;

  /** `now` is a monotonic clock in seconds. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** Bytes per second; infinite while that is not known. */
  get value(): number {
    return this.#value;
  }

  /** Whether the last two measurements agree. */
  get confirmed(): boolean {
    return this.#confirmed;
  }

  /** Whether the last measurement is so old that the link should be tried again. */
  get old(): boolean {
    return this.#now() >= this.#trustedUntil;
  }

  /** It is not known any more. */
  forget(): void {
    this.#value = Number.POSITIVE_INFINITY;
  }

  /**
   * Takes a client's report. `measurement`: since the last one came nothing but raw chunks that had the link for
   * themselves. `serverWaited`: the time since the last one went into the server's own work.
   */
  report(report: ClientKeepalive, serverWaited: boolean, measurement: boolean): void {
    const last = this.#recent.at(-1);
    this.#recent.push(report);
    if (last === undefined) return;
    const bytes = report.received - last.received;
    const seconds = (report.elapsedUs - last.elapsedUs) / 1e6;
    const starved = (report.starvedUs - last.starvedUs) / 1e6 / seconds;
    const idle = seconds - (report.busyUs - last.busyUs) / 1e6;
    const behindServer = serverWaited && !(measurement && bytes >= LARGE_BYTES);
    const least = behindServer ? TELLING_BEHIND_SERVER : measurement ? TELLING_MEASUREMENT : TELLING;
    const telling = idle >= least.idleS && starved >= least.starved && bytes >= LEAST_BYTES;
    const steadyRate = this.#steadyRate(report);
    if (telling) this.#measured(bytes / idle, seconds);
    else if (measurement) this.#trustS = 0;
    else if (steadyRate > LEAST_RISE * this.#value) {
      // The link carries more than was measured; how much more, only raw chunks can tell.
      this.#value = steadyRate;
      this.#trustS = 0;
      this.#trustedUntil = Math.min(this.#trustedUntil, this.#now() + LEAST_TRUST_S);
    }
  }

  /** Bytes per second up to this report, since one that is `LEAST_RISE_US` old, or the first. */
  #steadyRate(report: ClientKeepalive): number {
    const recent = this.#recent;
    while (report.elapsedUs - (recent[1] as ClientKeepalive).elapsedUs >= LEAST_RISE_US) void recent.shift();
    const [since] = recent as [ClientKeepalive];
    return (report.received - since.received) / ((report.elapsedUs - since.elapsedUs) / 1e6);
  }

  #measured(rate: number, seconds: number): void {
    const trustS = Math.max(LEAST_TRUST_S, TRUST_INTERVALS * seconds, 2 * this.#trustS);
    this.#trustS = Math.min(LONGEST_TRUST_S, trustS);
    this.#confirmed = rate < SAME_RATE * this.#measuredValue && this.#measuredValue < SAME_RATE * rate;
    this.#measuredValue = rate;
    this.#value = rate;
    this.#trustedUntil = this.#now() + this.#trustS;
  }
}
