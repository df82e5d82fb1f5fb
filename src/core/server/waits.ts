import type { ServerWaits } from '../framing/messages.js';

/** Adds up what one transfer has been waiting for, milliseconds. */
export class Waits {
  readonly #totals = { sourceMs: 0, digestMs: 0, codecMs: 0, rateMs: 0, networkMs: 0 };

  get totals(): ServerWaits {
    return this.#totals;
  }

  /** Time that was the server's own, without the network and the client behind it. */
  get ownMs(): number {
    const { sourceMs, digestMs, codecMs, rateMs } = this.#totals;
    return sourceMs + digestMs + codecMs + rateMs;
  }

  /** Does something and books the time it takes; `kind` may be a question, asked afterwards. */
  async time<T>(kind: keyof ServerWaits | (() => keyof ServerWaits), work: () => Promise<T>): Promise<T> {
    const startedAt = performance.now();
    try {
      return await work();
    } finally {
      this.#totals[typeof kind === 'function' ? kind() : kind] += performance.now() - startedAt;
    }
  }
}
