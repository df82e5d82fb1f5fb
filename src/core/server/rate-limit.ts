import { setTimeout as delay } from 'node:timers/promises';

/**
 * A budget of bytes per second that all sessions share, first come, first served. Unlimited when
 * `bytesPerSecond` is undefined.
 */
export class RateLimit {
  readonly #bytesPerSecond: number | undefined;
  /** When everything granted so far will have been spent, on the monotonic clock. */
  #spentAtMs = 0;

  constructor(bytesPerSecond: number | undefined) {
    this.#bytesPerSecond = bytesPerSecond;
  }

  /** The most that should be taken at once, so that a slow budget still flows evenly; bytes. */
  batchSize(most: number): number {
    if (this.#bytesPerSecond === undefined) return most;
    return Math.min(most, Math.max(4 * 1024, Math.floor(this.#bytesPerSecond / 20)));
  }

  /** Resolves when `bytes` may be sent, at once when the signal is aborted: what was begun is brought to its end. */
  async take(bytes: number, signal: AbortSignal): Promise<void> {
    if (this.#bytesPerSecond === undefined) return;
    const now = performance.now();
    const waitMs = Math.max(0, this.#spentAtMs - now);
    this.#spentAtMs = Math.max(now, this.#spentAtMs) + (bytes / this.#bytesPerSecond) * 1000;
    if (waitMs > 0) await delay(waitMs, undefined, { signal }).catch(() => undefined);
  }
}
