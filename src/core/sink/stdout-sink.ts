import { fstatSync, write } from 'node:fs';
import type { Writable } from 'node:stream';
import { promisify } from 'node:util';
import { systemCode, WireBoundError } from '../errors.js';
import type { Sink } from './sink.js';
import { sinkFailure } from './sink-failure.js';

const writeTo = promisify(write);
const CLOSED = new Set(['EPIPE', 'ECONNRESET', 'EOF', 'ERR_STREAM_DESTROYED', 'ERR_STREAM_WRITE_AFTER_END']);

/**
 * Passes bytes on in order to a stream, normally `process.stdout`, which stays open and the caller's. What has
 * gone out cannot be taken back, so only verified chunks may be written. Throws SINK_FAILED when the reader has
 * gone away, SINK_FULL or SINK_FAILED when standard output is a file that cannot be written.
 */
export class StdoutSink implements Sink {
  readonly location = 'standard output';
  readonly #output: Writable;
  readonly #descriptor: number | undefined;

  constructor(output: Writable) {
    this.#output = output;
    this.#descriptor = regularFileBehind(output);
    // The write callbacks carry the same errors; without a listener the event would end the process.
    output.on('error', () => {});
  }

  async write(spans: readonly Uint8Array[]): Promise<void> {
    try {
      for (const span of spans) {
        if (this.#descriptor === undefined) await this.#send(span);
        else await appendAll(this.#descriptor, span);
      }
    } catch (error) {
      if (!CLOSED.has(systemCode(error))) throw sinkFailure(error, 'write to', this.location);
      throw new WireBoundError('SINK_FAILED', 'standard output was closed', { cause: error });
    }
  }

  /** Every write waited for its callback, so there is nothing left to flush. */
  async commit(): Promise<void> {}

  async discard(): Promise<void> {}

  #send(span: Uint8Array): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#output.write(span, (error) => (error ? reject(error) : resolve()));
    });
  }
}

/**
 * Node's own stream over a file ignores short counts: on a full disk the end of the data would be lost without an
 * error. So a file (`-o - > FILE`) is written through its descriptor.
 */
function regularFileBehind(output: Writable): number | undefined {
  const { fd } = output as { fd?: unknown };
  return typeof fd === 'number' && fstatSync(fd).isFile() ? fd : undefined;
}

async function appendAll(descriptor: number, span: Uint8Array): Promise<void> {
  for (let sent = 0; sent < span.length; ) {
    const { bytesWritten } = await writeTo(descriptor, span, sent, span.length - sent, null);
    if (bytesWritten === 0) throw Object.assign(new Error('write took 0 bytes'), { code: 'ENOSPC' });
    sent += bytesWritten;
  }
}
