import type { Sink } from '#dist/core/sink/sink.js';

/** A sink in memory that a test can hold up or break; it copies, as the contract wants it to. */
export class TestSink implements Sink {
  readonly location = 'memory';
  /** Everything written so far, byte for byte at its offset. */
  readonly bytes: Buffer;
  /** Offset and number of spans of each write, in order. */
  readonly writes: { readonly offset: number; readonly spans: number }[] = [];
  committed = false;
  discarded = false;
  readonly #beforeWrite: (offset: number) => void | Promise<void>;
  #busy = false;

  /** `beforeWrite` is called before each write; what it throws the write throws. */
  constructor(size: number, beforeWrite: (offset: number) => void | Promise<void> = () => undefined) {
    this.bytes = Buffer.alloc(size);
    this.#beforeWrite = beforeWrite;
  }

  async write(spans: readonly Uint8Array[], offset: number): Promise<void> {
    if (this.#busy) throw new Error('a write began while another was pending');
    this.#busy = true;
    this.writes.push({ offset, spans: spans.length });
    await this.#beforeWrite(offset);
    let at = offset;
    for (const span of spans) {
      this.bytes.set(span, at);
      at += span.length;
    }
    this.#busy = false;
  }

  async commit(): Promise<void> {
    this.committed = true;
  }

  async discard(): Promise<void> {
    this.discarded = true;
  }
}
