import { WireBoundError } from '../errors.js';
import type { ServeLimits } from './serve-limits.js';

/** Looks this often, milliseconds. */
const TICK_MS = 1_000;

/**
 * Notices a client that does not say hello, goes silent, or lets bytes wait without taking them; then calls
 * `onStalled` once. A slow client that moves steadily is left alone.
 */
export class StallWatch {
  readonly #limits: ServeLimits;
  readonly #position: () => number;
  readonly #onStalled: (error: WireBoundError) => void;
  readonly #timer: NodeJS.Timeout;
  readonly #startedAt = performance.now();
  #greeted = false;
  #heardAt = this.#startedAt;
  /** Since when bytes have been waiting for the client, if they are. */
  #pendingSince: number | undefined;
  /** How long they have been waiting before that, in all. */
  #pendingMs = 0;
  #window = { waitedMs: 0, position: 0 };

  /** `position`: bytes the client is known to have taken, as far as can be told. */
  constructor(limits: ServeLimits, position: () => number, onStalled: (error: WireBoundError) => void) {
    this.#limits = limits;
    this.#position = position;
    this.#onStalled = onStalled;
    this.#timer = setInterval(() => this.#look(), TICK_MS);
    this.#timer.unref();
  }

  /** The client has said a whole Hello. */
  greeted(): void {
    this.#greeted = true;
    this.heard();
  }

  /** Something arrived from the client. */
  heard(): void {
    this.#heardAt = performance.now();
  }

  /** From now on bytes wait for the client, or no longer do. Only that time counts against it. */
  set pending(pending: boolean) {
    const now = performance.now();
    if (this.#pendingSince !== undefined) this.#pendingMs += now - this.#pendingSince;
    this.#pendingSince = pending ? now : undefined;
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #look(): void {
    const { helloTimeoutMs, idleTimeoutMs, stallTimeoutMs, stallBytes } = this.#limits;
    const now = performance.now();
    if (!this.#greeted) {
      if (now - this.#startedAt > helloTimeoutMs) this.#stalled('no hello', helloTimeoutMs);
      return;
    }
    if (this.#pendingSince === undefined && now - this.#heardAt > idleTimeoutMs) {
      this.#stalled('nothing heard', idleTimeoutMs);
      return;
    }
    const position = this.#position();
    const waitedMs = this.#pendingMs + (this.#pendingSince === undefined ? 0 : now - this.#pendingSince);
    if (Math.abs(position - this.#window.position) >= stallBytes) this.#window = { waitedMs, position };
    else if (waitedMs - this.#window.waitedMs > stallTimeoutMs) {
      this.#stalled(`less than ${stallBytes / 1024} KiB taken`, stallTimeoutMs);
    }
  }

  #stalled(what: string, timeoutMs: number): void {
    this.stop();
    this.#onStalled(new WireBoundError('IDLE', `${what} in ${Math.round(timeoutMs / 1000)} s`));
  }
}
