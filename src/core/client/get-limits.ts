/** The numbers that keep a client from waiting for ever; docs/architecture.md lists them. */
export interface GetLimits {
  readonly connectTimeoutMs: number;
  /** From the connection to a whole Manifest. */
  readonly helloTimeoutMs: number;
  /** Silence from the server, keepalives included. */
  readonly idleTimeoutMs: number;
  /** Between the client's keepalives. */
  readonly keepaliveMs: number;
  /** How often the same chunk may fail. */
  readonly chunkFailures: number;
  /** How many bad chunks of a local file `verify` goes past. */
  readonly badChunks: number;
  /** The shortest and longest pause before a reconnect. */
  readonly leastBackoffMs: number;
  readonly mostBackoffMs: number;
  /** How long a verdict that could not be delivered is tried again. */
  readonly verdictMs: number;
}

export const GET_LIMITS: GetLimits = {
  connectTimeoutMs: 15_000,
  helloTimeoutMs: 10_000,
  idleTimeoutMs: 60_000,
  keepaliveMs: 3_000,
  chunkFailures: 3,
  badChunks: 1_000,
  leastBackoffMs: 100,
  mostBackoffMs: 5_000,
  verdictMs: 10_000,
};
