/**
 * Where the verified bytes of one file go. `write` is called with contiguous, increasing offsets and never
 * while an earlier write is still pending.
 */
export interface Sink {
  /** Where the file will be, for people: a path, or `standard output`. */
  readonly location: string;
  /** Writes all spans one after another from `offset` on; they may be shared memory and are the caller's again once it resolves. */
  write(spans: readonly Uint8Array[], offset: number): Promise<void>;
  /** Makes the file durable and visible under its name; resolves when both are true. */
  commit(): Promise<void>;
  /** Lets go without publishing; what was written so far may stay as a partial file. May follow a failed commit. */
  discard(): Promise<void>;
}
