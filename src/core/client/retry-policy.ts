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
  // The server did answer before: now it hangs, or something in between answers in its place.
  'NOT_WIREBOUND',
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

/** How far a run has come. */
export interface Progress {
  /** Chunks that are proven. */
  readonly verified: number;
  /** When the last of them was, on the monotonic clock, milliseconds. */
  readonly atMs: number;
}

/** Whether a new connection may help a run that had one before. */
export function isConnectionTrouble(code: ErrorCode): boolean {
  return CONNECTION_CODES.has(code);
}

/** Decides whether, and when, a run that met an error tries again. */
export class RetryPolicy {
  readonly #limits: GetLimits;
  readonly #waitUntil: number;
  readonly #retryForMs: number;
  #verified = -1;
  #backoffMs: number;
  #chunkFailures = 0;
  #lostHellos = 0;

  constructor(limits: GetLimits, waitMs: number, retryForMs: number) {
    this.#limits = limits;
    this.#waitUntil = performance.now() + waitMs;
    this.#retryForMs = retryForMs;
    this.#backoffMs = limits.leastBackoffMs;
  }

  /**
   * The pause before the next attempt, milliseconds; undefined: there is none, the error stands. `progress` is
   * undefined before it was known what would be received.
   */
  pause({ code, final }: WireBoundError, progress: Progress | undefined): number | undefined {
    if (final) return undefined;
    if (progress === undefined) {
      const left = this.#waitUntil - performance.now();
      // It may have been bad luck, or something that accepts every connection: that is not worth much time.
      if (code === 'CONNECTION_LOST' && left <= 0 && this.#retryForMs > 0) {
        return ++this.#lostHellos < this.#limits.chunkFailures ? this.#limits.leastBackoffMs : undefined;
      }
      return WAIT_CODES.has(code) && left > 0 ? Math.min(WAIT_PAUSE_MS, left) : undefined;
    }
    if (progress.verified > this.#verified) {
      this.#verified = progress.verified;
      this.#backoffMs = this.#limits.leastBackoffMs;
      this.#chunkFailures = 0;
    }
    if (this.#retryForMs === 0) return undefined;
    if (CHUNK_CODES.has(code)) {
      return ++this.#chunkFailures < this.#limits.chunkFailures ? 0 : undefined;
    }
    if (!isConnectionTrouble(code)) return undefined;
    const pauseMs = this.#backoffMs;
    this.#backoffMs = Math.min(this.#limits.mostBackoffMs, 2 * pauseMs);
    return performance.now() - progress.atMs + pauseMs > this.#retryForMs ? undefined : pauseMs;
  }
}
