import { devNull } from 'node:os';
import type { Sink } from './sink.js';

/** Takes everything and keeps nothing: for verifying a transfer without storing it. */
export class NullSink implements Sink {
  readonly location = devNull;

  async write(): Promise<void> {}

  async commit(): Promise<void> {}

  async discard(): Promise<void> {}
}
