/**
 * What goes between a {@link DigestThread} and its worker. All memory is one SharedArrayBuffer that both see;
 * offsets and lengths are bytes in it.
 */
export type DigestJob =
  /** Hash a span chunk by chunk and tell the prefix digest after each. */
  | { readonly kind: 'record'; readonly offset: number; readonly length: number; readonly chunkSize: number }
  /**
   * Decode a chunk in place (codec 0: it is raw), hash it, and compare with the prefix digest that stands in
   * the 32 bytes in front of it. A chunk that fails is as if it had never been hashed; every later one is
   * skipped until `expect` names the one to go on with.
   */
  | {
      readonly kind: 'verify';
      readonly index: number;
      readonly offset: number;
      readonly payloadLength: number;
      readonly codec: number;
      readonly rawLength: number;
    }
  /** Go on with chunk `index` after a failure; `restart` forgets everything hashed so far. */
  | { readonly kind: 'expect'; readonly index: number; readonly restart: boolean };

/** A codec that the worker can load by itself. */
export interface CodecModule {
  readonly name: string;
  /** URL of the plugin module whose default export has the codec; without one it is never used in the worker. */
  readonly module?: string;
}

/** The first message to the worker. */
export interface DigestSetup {
  readonly memory: SharedArrayBuffer;
  /** Places match the codec numbers of the jobs, counted from 1. */
  readonly codecs: readonly CodecModule[];
}

/** How one chunk fared. */
export type VerifyOutcome =
  | { readonly outcome: 'verified' }
  | { readonly outcome: 'skipped' }
  | { readonly outcome: 'mismatch'; readonly actual: Uint8Array }
  | { readonly outcome: 'undecodable'; readonly message: string };

/** What a verification took on the thread, milliseconds. */
export interface VerifyTimes {
  readonly decodeMs: number;
  readonly hashMs: number;
}

/** One reply per `record` or `verify` job, in order. */
export type DigestReply =
  | { readonly kind: 'record'; readonly digests: Uint8Array }
  | ({ readonly kind: 'verify' } & VerifyOutcome & VerifyTimes);

/** What the worker says, once, when its modules are loaded. */
export const READY = 'ready';
