import type { ChunkSource, Loan, SourceIdentity } from '#dist/core/source/chunk-source.js';

/** How a {@link TestSource} differs from a file that nobody touches. */
export interface TestSourceOptions {
  /** Lends its memory, like a mapped file. */
  readonly lends?: boolean;
  /** Cannot tell whether it has changed. */
  readonly withoutIdentity?: boolean;
  /** Called before each read, with its offset; what it throws the read throws. */
  readonly beforeRead?: (offset: number) => void | Promise<void>;
  /** The same for loans. */
  readonly beforeLend?: (offset: number) => void | Promise<void>;
}

/** A source over memory that a test can look into and change at any moment. */
export class TestSource implements ChunkSource {
  readonly name = 'file.bin';
  readonly size: number;
  /** The content now; replace it, or write into it. */
  content: Uint8Array;
  /** What `identity` tells; change it to have the source look touched. */
  key = 'untouched';
  changedAtMs = 0;
  /** Offsets of all reads so far, in order. */
  readonly reads: number[] = [];
  /** Loans handed out, and those that are not back yet. */
  loans = 0;
  openLoans = 0;
  closed = 0;
  readonly lend?: (offset: number, length: number) => Promise<Loan>;
  readonly identity?: () => Promise<SourceIdentity>;
  readonly #beforeRead: (offset: number) => void | Promise<void>;

  constructor(content: Uint8Array, options: TestSourceOptions = {}) {
    this.content = content;
    this.size = content.length;
    this.#beforeRead = options.beforeRead ?? (() => undefined);
    if (options.lends === true) {
      this.lend = async (offset, length) => {
        await options.beforeLend?.(offset);
        return this.#loan(offset, length);
      };
    }
    if (options.withoutIdentity !== true) {
      this.identity = async () => ({
        key: this.key,
        size: this.content.length,
        changedAtMs: this.changedAtMs,
      });
    }
  }

  async read(offset: number, into: Uint8Array): Promise<number> {
    this.reads.push(offset);
    await this.#beforeRead(offset);
    const bytes = this.content.subarray(offset, offset + into.length);
    into.set(bytes);
    return bytes.length;
  }

  async close(): Promise<void> {
    this.closed++;
  }

  #loan(offset: number, length: number): Loan {
    this.loans++;
    this.openLoans++;
    let open = true;
    return {
      bytes: this.content.subarray(offset, offset + length),
      release: () => {
        if (!open) throw new Error('a loan was released twice');
        open = false;
        this.openLoans--;
      },
    };
  }
}
