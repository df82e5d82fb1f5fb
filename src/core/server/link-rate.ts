import type { ClientKeepalive } from '../framing/messages.js';
import type { TcpRecord } from '../transport/tcp-record.js';
import { ClientWitness } from './client-witness.js';
import type { Finding } from './finding.js';
import { KernelWitness } from './kernel-witness.js';
import { SteadyRate } from './steady-rate.js';

/**
 * A rate is believed for so many times as long as measuring it took, and for twice as long as the one before: what
 * measuring costs stays a small share. Seconds at least and at most.
 */
const TRUST_INTERVALS = 100;
const LEAST_TRUST_S = 0.1;
const LONGEST_TRUST_S = 10;
/** That a link carries more than was measured must show by this factor; anything less is noise, and no reason to measure anew. */
const LEAST_RISE = 1.25;
/** Two measurements agree if they differ at most by this factor. */
const SAME_RATE = 2;

/**
 * What the link to one client carries, by two witnesses: the server's kernel, where it says anything, and the client. The
 * kernel is not misled by busy processors, but does not see behind a tunnel. While the client is the limit, the link carries
 * at least what it takes.
 */
export class LinkRate {
  readonly #now: () => number;
  readonly #kernel = new KernelWitness();
  readonly #client = new ClientWitness();
  readonly #steadyRate = new SteadyRate();
  /** The kernel says something. */
  #watched = false;
  /** It has found the path to be the limit, and no sign since that it is not. */
  #found = false;
  /** Something stood in the queue to the client when the kernel was last asked, and at the report before. */
  #queued = false;
  #queuedBefore = false;
  #value = Number.POSITIVE_INFINITY;
  #measuredValue = 0;
  #measuredAt = 0;
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

  /** Takes what the server's kernel says; `raw`: chunks are being sent raw, as fast as they go. */
  look(record: TcpRecord, raw: boolean): void {
    this.#watched = true;
    this.#queued = record.unsent > 0;
    if (!raw) this.#kernel.startFrom(record);
    const finding = raw ? this.#kernel.hear(record) : undefined;
    if (finding === 'unclear') return;
    this.#found = finding !== undefined;
    if (finding !== undefined) this.#measured(finding);
    // All that fits goes raw, and the path is not the limit: what was measured some time ago does not hold any more.
    else if (raw && this.#now() >= this.#measuredAt + LEAST_TRUST_S) this.forget();
  }

  /** Takes what the server's kernel says before chunks are sent after a pause. */
  lookAgain(record: TcpRecord): void {
    this.#kernel.passOver(record);
  }

  /**
   * Takes a client's report. `measurement`: since the last one came nothing but raw chunks that had the link for
   * themselves. `serverWaited`: the time since the last one went into the server's own work; then what the client says
   * counts only if its word is all there is, or to confirm what is known, if bytes stood in the queue all the same.
   */
  report(report: ClientKeepalive, serverWaited: boolean, measurement: boolean): void {
    const finding = this.#client.hear(report, serverWaited, measurement, this.#watched);
    const steadyRate = this.#steadyRate.add(report.received, report.elapsedUs);
    const queued = this.#queued && this.#queuedBefore;
    this.#queuedBefore = this.#queued;
    if (this.#found) return;
    if (this.#watched && serverWaited) {
      this.#confirmed ||= queued && finding !== undefined && this.#isLike(finding.rate);
      return;
    }
    if (finding !== undefined) this.#measured(finding);
    else if (measurement) this.#trustS = 0;
    else if (steadyRate > LEAST_RISE * this.#value) {
      // The link carries more than was measured; how much more, only raw chunks can tell.
      this.#value = steadyRate;
      this.#trustS = 0;
      this.#trustedUntil = Math.min(this.#trustedUntil, this.#now() + LEAST_TRUST_S);
    }
  }

  #isLike(rate: number): boolean {
    return rate < SAME_RATE * this.#measuredValue && this.#measuredValue < SAME_RATE * rate;
  }

  #measured({ rate, seconds }: Finding): void {
    const trustS = Math.max(LEAST_TRUST_S, TRUST_INTERVALS * seconds, 2 * this.#trustS);
    this.#trustS = Math.min(LONGEST_TRUST_S, trustS);
    this.#confirmed = this.#isLike(rate);
    this.#measuredValue = rate;
    this.#measuredAt = this.#now();
    this.#value = rate;
    this.#trustedUntil = this.#now() + this.#trustS;
  }
}
