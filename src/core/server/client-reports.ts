import type { ClientKeepalive } from '../framing/messages.js';
import { processorWaitMs } from '../processor-wait.js';
import type { Waits } from './waits.js';

/** The longest wait for one report, milliseconds. */
const LONGEST_WAIT_MS = 1_000;

/** What a client says about itself in its keepalives, and how busy the server was meanwhile. */
export class ClientReports {
  readonly #waits: Waits;
  #received: number | undefined;
  /** When the last report came, and when one was asked for. */
  #came: Moment;
  #asked: Moment;
  #waiting: ((received: number) => void) | undefined;

  /** `waits` are those of the same connection. */
  constructor(waits: Waits) {
    this.#waits = waits;
    this.#came = this.#asked = this.#moment();
  }

  /** Bytes of the connection that the client says it has taken in; undefined before its first report. */
  get received(): number | undefined {
    return this.#received;
  }

  /** A report is about to be asked for. */
  asked(): void {
    this.#asked = this.#moment();
  }

  /**
   * Takes a report; returns whether most of the time since the last one went into the server's own work, or into waiting
   * for a processor. Two that were asked for together may come together: their time began when they were asked for.
   */
  take({ received }: ClientKeepalive): boolean {
    const now = this.#moment();
    const since = this.#asked.atMs < this.#came.atMs ? this.#asked : this.#came;
    this.#received = received;
    this.#came = now;
    this.#waiting?.(received);
    return now.ownMs - since.ownMs > (now.atMs - since.atMs) / 2;
  }

  /**
   * Resolves when the client has reported on so many bytes, or `signal` is aborted; a report that takes long is not
   * waited for.
   */
  reaches(bytes: number, signal: AbortSignal): Promise<void> {
    if ((this.#received ?? 0) >= bytes || signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const settle = () => {
        clearTimeout(timer);
        signal.removeEventListener('abort', settle);
        resolve();
      };
      const timer = setTimeout(settle, LONGEST_WAIT_MS);
      signal.addEventListener('abort', settle);
      this.#waiting = (received) => {
        if (received >= bytes) settle();
      };
    });
  }

  #moment(): Moment {
    return { atMs: performance.now(), ownMs: this.#waits.ownMs + processorWaitMs() };
  }
}

/** A time on the monotonic clock, and what the server had spent on itself by then. */
interface Moment {
  readonly atMs: number;
  readonly ownMs: number;
}
