import type { ErrorCode } from '../errors.js';
import type { Limit } from '../framing/messages.js';

/** How one `get` ended. `PASS` means: the file is where `path` says, and its SHA-256 is `sha256`. */
export interface GetResult {
  readonly result: 'PASS' | 'FAIL';
  /** The digest of the received bytes; on a mismatch, of what arrived, or of what was offered and not fetched. */
  readonly sha256?: string;
  /** What it should have been, when it differs. */
  readonly expected?: string;
  readonly name: string;
  readonly path: string;
  /** Size of the file. */
  readonly bytes: number;
  /** Bytes that came over the network, frames included. */
  readonly bytesOnWire: number;
  readonly seconds: number;
  /** The target was there already and identical. */
  readonly alreadyComplete: boolean;
  /** After a failure: the file that holds what arrived so far, which the same command continues. */
  readonly partial?: string;
  /** What kept the transfer from being faster, and the share of its time (0 to 1) behind that. */
  readonly limitedBy?: Limit;
  readonly share?: number;
  /** Where that was the server: what it was waiting for itself. */
  readonly serverLimit?: 'source' | 'digest' | 'codec' | 'rate';
  readonly code?: ErrorCode;
  readonly message?: string;
  /** After a failure: what the user can do next; one short line each. */
  readonly suggestions?: readonly string[];
}

/** What a client tells the outside, in the order it happens; with `--json`, one line each. */
export type GetEvent =
  | { readonly event: 'waiting'; readonly address: string; readonly reason: string }
  | {
      readonly event: 'manifest';
      readonly address: string;
      readonly name: string;
      readonly size: number;
      readonly chunks: number;
      readonly chunkSize: number;
      readonly codecs: readonly string[];
      readonly path: string;
    }
  /** What is at `path` already, `bytes` of it, is being checked against the server's digests. */
  | { readonly event: 'checking'; readonly path: string; readonly bytes: number }
  /** The first `bytes` of `size` bytes, at `path`, are right and need not be fetched again; 0: none are. */
  | { readonly event: 'kept'; readonly path: string; readonly bytes: number; readonly size: number }
  /** Reading what is already on this disk, or receiving. */
  | {
      readonly event: 'progress';
      readonly phase: 'checking' | 'receiving' | 'flushing';
      readonly bytes: number;
      readonly size: number;
    }
  | {
      readonly event: 'reconnecting';
      readonly chunk: number;
      readonly chunks: number;
      readonly reason: string;
    }
  | { readonly event: 'warning'; readonly message: string }
  | ({ readonly event: 'result' } & GetResult);
