import { processorWaitMs } from '../processor-wait.js';

/** So many clients make a crowd: with fewer, encoding does not pay for itself where processors are scarce. */
const LEAST_MEMBERS = 4;
/** Processors are scarce where the server waits for one for more than this share of the time. */
const SCARCE_SHARE = 0.25;
/** That is looked at so often, milliseconds. */
const INTERVAL_MS = 50;

/**
 * The clients of one server that are being sent chunks, and whether they and the server lack processors. Where they do, no
 * link's rate can be told, and none is the limit: what counts is the work that a chunk makes. One encode serves the whole crowd, and each of
 * its clients decodes with less work than two kernels have with the raw bytes, if the chunk shrinks well.
 */
export class Crowd {
  readonly #members = new Set<object>();
  readonly #waitMs: () => number;
  readonly #now: () => number;
  #lookedAt: number;
  #waitedMs: number;
  #scarce = false;

  /** `waitMs`: for how long the server has waited for a processor; `now`: a monotonic clock; milliseconds. */
  constructor(waitMs: () => number = processorWaitMs, now: () => number = () => performance.now()) {
    this.#waitMs = waitMs;
    this.#now = now;
    this.#lookedAt = now();
    this.#waitedMs = waitMs();
  }

  /** A client is being sent chunks; said again it changes nothing. */
  join(member: object): void {
    this.#members.add(member);
  }

  /** It is gone. */
  leave(member: object): void {
    this.#members.delete(member);
  }

  /** Whether there is a crowd that lacks processors. */
  get starved(): boolean {
    if (this.#members.size < LEAST_MEMBERS) return false;
    const now = this.#now();
    const ms = now - this.#lookedAt;
    if (ms >= INTERVAL_MS) {
      const waitedMs = this.#waitMs();
      this.#scarce = waitedMs - this.#waitedMs > SCARCE_SHARE * ms;
      this.#lookedAt = now;
      this.#waitedMs = waitedMs;
    }
    return this.#scarce;
  }
}
