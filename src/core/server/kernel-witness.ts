import type { TcpRecord } from '../transport/tcp-record.js';
import type { Finding } from './finding.js';

/** So long must have been looked at, microseconds: a kernel counts in ticks of up to 10 ms, and is itself late now and then. */
const LEAST_US = 48_000;
const LEAST_BYTES = 64 * 1024;
/** What is longer ago says nothing about the link now. */
const WINDOW_US = 100_000;
/** If the path held bytes up for a smaller share of the time, something else took the time. */
const LEAST_SHARE = 0.7;

/** What was noted from one look to the next. */
interface Interval {
  readonly us: number;
  readonly limitedUs: number;
  readonly bytes: number;
}

/**
 * What the server's kernel says about the link to a client: the bytes that were acknowledged in the time in which the path
 * held bytes up. Whether a server or a client has to wait for a processor makes no difference to it. What is behind the
 * first hop of a tunnel or a proxy it cannot see.
 */
export class KernelWitness {
  #last: TcpRecord | undefined;
  /** Of the window, the oldest first. */
  #intervals: Interval[] = [];

  /** What was noted up to this record does not count. */
  startFrom(record: TcpRecord): void {
    this.#last = record;
    this.#intervals = [];
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
    this.#intervals.push({
      us: record.atUs - last.atUs,
      limitedUs: record.pathLimitedUs - last.pathLimitedUs,
      bytes: record.acknowledged - last.acknowledged,
    });
    while (this.#sum('us') - (this.#intervals[0] as Interval).us >= WINDOW_US) void this.#intervals.shift();
    const [us, limitedUs, bytes] = [this.#sum('us'), this.#sum('limitedUs'), this.#sum('bytes')];
    if (us < LEAST_US || bytes < LEAST_BYTES) return 'unclear';
    if (limitedUs < LEAST_SHARE * us) return undefined;
    this.startFrom(record);
    return { rate: bytes / (limitedUs / 1e6), seconds: limitedUs / 1e6 };
  }

  #sum(of: keyof Interval): number {
    return this.#intervals.reduce((total, interval) => total + interval[of], 0);
  }
}
