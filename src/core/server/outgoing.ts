import { encodeFrame } from '../framing/encode-frame.js';
import { encodeFrontier } from '../framing/messages.js';
import type { Connection } from '../transport/connection.js';
import type { StallWatch } from './stall-watch.js';

/**
 * What one session sends: one piece of work at a time, and keepalives while that waits between two frames, or there
 * is none.
 */
export class Outgoing {
  readonly #connection: Connection;
  readonly #watch: StallWatch;
  readonly #keepalive: NodeJS.Timeout;
  #work: Promise<void> = Promise.resolve();
  /** Between two frames, with none about to leave. */
  #quiet = false;

  /** `frontier` is what the keepalives carry; asked once the first piece of work is done. */
  constructor(connection: Connection, watch: StallWatch, keepaliveMs: number, frontier: () => number) {
    this.#connection = connection;
    this.#watch = watch;
    this.#keepalive = setInterval(() => {
      if (!this.#quiet) return;
      connection.send([encodeFrame('keepalive', encodeFrontier(frontier()))]).catch(() => undefined); // `gone` tells
    }, keepaliveMs);
    this.#keepalive.unref();
  }

  /** Runs one piece of work that sends something; the client says nothing that needs another meanwhile. */
  start(work: Promise<void>, failed: (error: unknown) => void): void {
    this.#quiet = false;
    this.#work = work.then(
      () => {
        this.#quiet = true;
      },
      (error: unknown) => {
        this.#work = Promise.resolve();
        failed(error);
      },
    );
  }

  /** Sends while the watch looks whether the client takes it. */
  async put(parts: readonly Uint8Array[]): Promise<void> {
    this.#watch.pending = true;
    await this.#connection.send(parts);
    this.#watch.pending = false;
  }

  /** Waits for the server's own work, between two frames: keepalives may go out meanwhile. */
  async whileQuiet<T>(wait: Promise<T>): Promise<T> {
    this.#quiet = true;
    try {
      return await wait;
    } finally {
      this.#quiet = false;
    }
  }

  /** Whether the work under way ends within so long, in whatever way. */
  async settles(withinMs: number): Promise<boolean> {
    const deadline = AbortSignal.timeout(withinMs);
    const overdue = new Promise<false>((resolve) => {
      deadline.addEventListener('abort', () => resolve(false), { once: true });
    });
    const settled = () => true;
    return Promise.race([this.#work.then(settled, settled), overdue]);
  }

  /** No more keepalives. */
  stop(): void {
    clearInterval(this.#keepalive);
  }
}
