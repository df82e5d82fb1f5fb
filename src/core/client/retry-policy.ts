import type { ErrorCode, WireBoundError } from '../errors.js';
import type { GetLimits } from './get-limits.js';

/** Troubles of the connection: another one may do better. */
const CONNECTION_CODES: ReadonlySet<ErrorCode> = new Set([
  'CONNECTION_REFUSED',
  'CONNECTION_TIMEOUT',
  'CONNECTION_LOST',
  'HOST_NOT_FOUND',
  'IDLE',
  'BUSY',
]);
/** What a server that is not up yet looks like. */
const WAIT_CODES: ReadonlySet<ErrorCode> = new Set([
  'CONNECTION_REFUSED',
  'CONNECTION_TIMEOUT',
  'CONNECTION_LOST',
  'BUSY',
]);
/** Troubles with one chunk: asked for again, but not for ever. */
const CHUNK_CODES: ReadonlySet<ErrorCode> = new Set(['DIGEST_MISMATCH', 'CODEC_FAILED', 'PROTOCOL']);
/** Between two looks for a server that is not up yet, milliseconds. */
const WAIT_PAUSE_MS = 500;

/** Decides whether, and when, a run that met an error tries again. */
export class RetryPolicy {
  readonly #limits: GetLimits;
  readonly #waitUntil: number;
  readonly #retryForMs: number;
  #verified = -1;
  #progressAt = performance.now();
  #backoffMs: number;
  #chunkFailures = 0;

  constructor(limits: GetLimits, waitMs: number, retryForMs: number) {
    this.#limits = limits;
    this.#waitUntil = performance.now() + waitMs;
    this.#retryForMs = retryForMs;
    this.#backoffMs = limits.leastBackoffMs;
  }

  /**
   * The pause before the next attempt, milliseconds; undefined: there is none, the error stands. `verified` is how many chunks are
   * proven, undefined before there was a manifest.
   */
  pause({ code }: WireBoundError, verified: number | undefined): number | undefined {
    if (verified === undefined) {
      const left = this.#waitUntil - performance.now();
      return WAIT_CODES.has(code) && left > 0 ? Math.min(WAIT_PAUSE_MS, left) : undefined;
    }
    if (verified > this.#verified) {
      this.#verified = verified;
      this.#progressAt = performance.now();
      this.#backoffMs = this.#limits.leastBackoffMs;
      this.#chunkFailures = 0;
    }
    if (this.#retryForMs === 0) return undefined;
    if (CHUNK_CODES.has(code)) {
      return ++this.#chunkFailures < this.#limits.chunkFailures ? 0 : undefined;
    }
    if (!CONNECTION_CODES.has(code)) return undefined;
    const pauseMs = this.#backoffMs;
    this.#backoffMs = Math.min(this.#limits.mostBackoffMs, 2 * pauseMs);
    return performance.now() - this.#progressAt + pauseMs > this.#retryForMs ? undefined : pauseMs;
  }
}
