import type { ClientKeepalive } from '../framing/messages.js';
import { processorWaitMs } from '../processor-wait.js';

/** The longest wait for one report, milliseconds. */
const LONGEST_WAIT_MS = 1_000;

/** What a client says about itself in its keepalives. */
export class ClientReports {
  #received: number | undefined;
  #reportedAt = performance.now();
  #ownMs = processorWaitMs();
  #waiting: ((received: number) => void) | undefined;

  /** Bytes of the connection that the client says it has taken in; undefined before its first report. */
  get received(): number | undefined {
    return this.#received;
  }

  /**
   * Takes a report. `waitsMs` is how long the server has waited for its own work so far; returns whether that, and
   * waiting for a processor, was most of the time since the last report.
   */
  take({ received }: ClientKeepalive, waitsMs: number): boolean {
    const now = performance.now();
    const ownMs = waitsMs + processorWaitMs();
    const serverWaited = ownMs - this.#ownMs > (now - this.#reportedAt) / 2;
    this.#received = received;
    this.#reportedAt = now;
    this.#ownMs = ownMs;
    this.#waiting?.(received);
    return serverWaited;
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
}
