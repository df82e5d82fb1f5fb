import type { GetEvent } from './get-event.js';

/** How a local file compares with what a server offers. */
export interface VerifyResult {
  /** `REPAIRED`: it was different and is identical now. `DIFFERENT`: it is. */
  readonly result: 'IDENTICAL' | 'REPAIRED' | 'DIFFERENT';
  /** What the server calls the file. */
  readonly name: string;
  /** The local file. */
  readonly path: string;
  /** SHA-256 of the server's file; absent when the comparison was given up. */
  readonly sha256?: string;
  /** Size of the server's file, and of the local one before any repair, bytes. */
  readonly bytes: number;
  readonly localBytes: number;
  readonly chunks: number;
  readonly chunkSize: number;
  /** Indexes of the chunks that were not right. */
  readonly badChunks: readonly number[];
  /** Chunks that were compared: all of them unless there were too many bad ones. */
  readonly comparedChunks: number;
  /** Bytes of the server's file that the local one had right. */
  readonly goodBytes: number;
  readonly bytesOnWire: number;
  readonly seconds: number;
}

/** What a comparison tells the outside, in the order it happens; with `--json`, one line each. */
export type VerifyEvent =
  | Extract<GetEvent, { event: 'manifest' | 'progress' | 'waiting' | 'reconnecting' | 'warning' }>
  /** Chunk `chunk` is not right; it is fetched. */
  | { readonly event: 'bad'; readonly chunk: number; readonly chunks: number }
  | ({ readonly event: 'result' } & VerifyResult);
