import type { TcpRecord } from '../transport/tcp-record.js';
import type { Finding } from './finding.js';

/** So long must have been looked at, microseconds: a kernel counts in ticks of up to 10 ms, and is itself late now and then. */
const LEAST_US = 48_000;
const LEAST_BYTES = 64 * 1024;
/** What is longer ago says nothing about the link now. */
const WINDOW_US = 100_000;
/**
 * A path that has not been the limit for long is not believed to be it at once: so large a share of that time must have been
 * looked at, up to so much. A server that is short of processors sends, now and then, as if a path held it up.
 */
const PATIENCE = 0.1;
const MOST_US = 500_000;
/** If the path held bytes up for a smaller share of the time, something else took the time. */
const LEAST_SHARE = 0.7;

/** What was noted from one look to the next. */
interface Interval {
  us: number;
  limitedUs: number;
  bytes: number;
}

/**
 * What the server's kernel says about the link to a client: the bytes that were acknowledged in the time in which the path
 * held bytes up. Whether a server or a client has to wait for a processor makes no difference to it. What is behind the
 * first hop of a tunnel or a proxy it cannot see.
 */
export class KernelWitness {
  #last: TcpRecord | undefined;
  /** Of the window, the oldest first, and their sum. */
  #intervals: Readonly<Interval>[] = [];
  #sum: Interval = { us: 0, limitedUs: 0, bytes: 0 };
  /** For how long the path has not been the limit. */
  #freeUs = 0;

  /** What was noted up to this record does not count. */
  startFrom(record: TcpRecord): void {
    this.#last = record;
    this.#intervals = [];
    this.#sum = { us: 0, limitedUs: 0, bytes: 0 };
    this.#freeUs = 0;
  }

  /** What was noted since the last record does not count: nothing was being sent. */
  passOver(record: TcpRecord): void {
    this.#last = record;
  }

  /**
   * Takes a record. `unclear`: it is too early to say; undefined: the path is not the limit. Only while bytes are sent as
   * fast as they go: a few that are on their way, and nothing behind them, look to a kernel like many that are held up.
   */
  hear(record: TcpRecord): Finding | 'unclear' | undefined {
    const last = this.#last;
    this.#last = record;
    if (last === undefined) return 'unclear';
    const interval = {
      us: record.atUs - last.atUs,
      limitedUs: record.pathLimitedUs - last.pathLimitedUs,
      bytes: record.acknowledged - last.acknowledged,
    };
    const leastUs = Math.min(MOST_US, Math.max(LEAST_US, PATIENCE * this.#freeUs));
    this.#note(interval, Math.max(WINDOW_US, leastUs));
    const { us, limitedUs, bytes } = this.#sum;
    if (us < leastUs || bytes < LEAST_BYTES) return 'unclear';
    if (limitedUs < LEAST_SHARE * us) {
      this.#freeUs += interval.us;
      return undefined;
    }
    this.startFrom(record);
    return { rate: bytes / (limitedUs / 1e6), seconds: limitedUs / 1e6 };
  }

  #note(interval: Interval, windowUs: number): void {
    this.#intervals.push(interval);
    this.#add(interval, 1);
    for (let oldest = this.#intervals[0]; oldest; oldest = this.#intervals[0]) {
      if (this.#sum.us - oldest.us < windowUs) break;
      void this.#intervals.shift();
      this.#add(oldest, -1);
    }
  }

  #add({ us, limitedUs, bytes }: Interval, sign: 1 | -1): void {
    this.#sum.us += sign * us;
    this.#sum.limitedUs += sign * limitedUs;
    this.#sum.bytes += sign * bytes;
  }
}
