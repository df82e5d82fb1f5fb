import { setTimeout as delay } from 'node:timers/promises';
import type { Geometry } from '../framing/geometry.js';

/** How far the hashing pass may be ahead of the fastest client when the file does not fit in memory, bytes. */
const LEAD = 256 * 1024 * 1024;
/** How often a held pass looks again, milliseconds. */
const POLL_MS = 20;

/**
 * Keeps the hashing pass over a file larger than memory near the clients, so that it does not push out of the
 * page cache what they are about to need. Without clients, or where the file fits, it runs free.
 */
export class Pacer {
  readonly #geometry: Geometry;
  readonly #fits: boolean;
  readonly #positions = new Map<object, number>();

  /** `memory`: bytes of page cache to count on. */
  constructor(geometry: Geometry, memory: number) {
    this.#geometry = geometry;
    this.#fits = geometry.size <= memory;
  }

  /** A client asks for, or has been sent, chunk `index`. */
  moved(client: object, index: number): void {
    this.#positions.set(client, index);
  }

  left(client: object): void {
    this.#positions.delete(client);
  }

  /** Resolves when the pass may read chunk `index`; rejects with the signal's reason. */
  async hold(index: number, signal: AbortSignal): Promise<void> {
    while (!this.#mayRead(index)) {
      await delay(POLL_MS, undefined, { signal }).catch(() => signal.throwIfAborted());
    }
  }

  #mayRead(index: number): boolean {
    if (this.#fits || this.#positions.size === 0) return true;
    const fastest = Math.max(...this.#positions.values());
    return this.#geometry.offset(index) <= this.#geometry.offset(fastest) + LEAD;
  }
}
