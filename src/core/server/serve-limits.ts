import { CODEC_DEADLINE_MS } from '../codec/answer-in-time.js';

/** The numbers that keep one client from harming another; docs/architecture.md lists them. */
export interface ServeLimits {
  /** From accept to a whole Hello. */
  readonly helloTimeoutMs: number;
  /** A client that waits for nothing and says nothing. */
  readonly idleTimeoutMs: number;
  /** The time in which at least `stallBytes` must move while bytes wait for a client. */
  readonly stallTimeoutMs: number;
  readonly stallBytes: number;
  /** Between the server's keepalives while it has nothing else to say. */
  readonly keepaliveMs: number;
  /** How long a codec may take over one chunk before the server does without it. */
  readonly encodeTimeoutMs: number;
  /** How long a run whose connection broke may take to come back before it counts as failed. */
  readonly returnMs: number;
}

export const SERVE_LIMITS: ServeLimits = {
  helloTimeoutMs: 10_000,
  idleTimeoutMs: 60_000,
  stallTimeoutMs: 60_000,
  stallBytes: 256 * 1024,
  keepaliveMs: 3_000,
  encodeTimeoutMs: CODEC_DEADLINE_MS,
  returnMs: 10_000,
};
