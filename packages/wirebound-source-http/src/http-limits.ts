/** How much patience the source has with a web server. */
export interface HttpLimits {
  /** The longest wait for the next bytes, milliseconds. */
  readonly idleTimeoutMs: number;
  /** Requests in a row that may bring nothing new. */
  readonly attempts: number;
  /** The pause before the second of them; it doubles each time. Milliseconds. */
  readonly pauseMs: number;
}

export const HTTP_LIMITS: HttpLimits = { idleTimeoutMs: 15_000, attempts: 3, pauseMs: 200 };
