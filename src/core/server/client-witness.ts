import type { ClientKeepalive } from '../framing/messages.js';
import type { Finding } from './finding.js';

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
 * What a client's reports say about its link. A client that has work of its own, or no processor, takes bytes in late
 * without the link being slow: the link is taken to be as fast as those bytes in the time in which the client had nothing
 * to do, and nothing is known where that was short.
 */
export class ClientWitness {
  #last: ClientKeepalive | undefined;

  /**
   * Takes a report; `serverWaited` and `measurement` as in `LinkRate.report`. `watched`: the kernel has a say too, so that a
   * rate need not err on the fast side: all the time counts, not only the client's idle time.
   */
  hear(
    report: ClientKeepalive,
    serverWaited: boolean,
    measurement: boolean,
    watched: boolean,
  ): Finding | undefined {
    const last = this.#last;
    this.#last = report;
    if (last === undefined) return undefined;
    const bytes = report.received - last.received;
    const seconds = (report.elapsedUs - last.elapsedUs) / 1e6;
    const starved = (report.starvedUs - last.starvedUs) / 1e6 / seconds;
    const idle = seconds - (report.busyUs - last.busyUs) / 1e6;
    const behindServer = serverWaited && !(measurement && bytes >= LARGE_BYTES);
    const least = behindServer ? TELLING_BEHIND_SERVER : measurement ? TELLING_MEASUREMENT : TELLING;
    const telling = idle >= least.idleS && starved >= least.starved && bytes >= LEAST_BYTES;
    return telling ? { rate: bytes / (watched ? seconds : idle), seconds } : undefined;
  }
}
