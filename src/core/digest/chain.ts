import { WireBoundError } from '../errors.js';
import { DIGEST_LENGTH } from '../framing/frame.js';

/** SHA-256 of nothing: the digest of an empty file, lower-case hex. */
export const EMPTY_SHA256 = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';

/**
 * The prefix digests of one file: entry k is SHA-256 of everything up to the end of chunk k. It grows from
 * the front; how far it has come is the frontier.
 */
export class Chain {
  /** Chunks in the file. */
  readonly count: number;
  readonly #bytes: Uint8Array;
  readonly #waiting = new Set<() => void>();
  #frontier = 0;
  #failure: Error | undefined;

  /** `known` is a finished chain, 32 bytes per chunk, taken over. */
  constructor(count: number, known?: Uint8Array) {
    this.count = count;
    this.#bytes = known ?? new Uint8Array(count * DIGEST_LENGTH);
    if (known !== undefined) this.#frontier = count;
  }

  /** How many prefix digests are known: those of chunks 0 to frontier - 1. */
  get frontier(): number {
    return this.#frontier;
  }

  get complete(): boolean {
    return this.#frontier === this.count;
  }

  /** SHA-256 of the whole file in hex, once the chain is complete. */
  get sha256(): string | undefined {
    if (!this.complete) return undefined;
    return this.count === 0 ? EMPTY_SHA256 : Buffer.from(this.digest(this.count - 1)).toString('hex');
  }

  /** All digests so far, 32 bytes each; a view. */
  get bytes(): Uint8Array {
    return this.#bytes.subarray(0, this.#frontier * DIGEST_LENGTH);
  }

  /** The 32 bytes after chunk `index`; a view. Throws when the frontier has not passed it: such a frame must not be built. */
  digest(index: number): Uint8Array {
    if (index >= this.#frontier) {
      throw new WireBoundError(
        'INTERNAL',
        `the digest of chunk ${index} is not known yet (frontier ${this.#frontier})`,
      );
    }
    return this.#bytes.subarray(index * DIGEST_LENGTH, (index + 1) * DIGEST_LENGTH);
  }

  /** Adds the digests of the next chunks. */
  append(digests: Uint8Array): void {
    this.#bytes.set(digests, this.#frontier * DIGEST_LENGTH);
    this.#frontier += digests.length / DIGEST_LENGTH;
    this.#wake();
  }

  /** Says that no more digests will come; everyone who waits, now or later, is told why. */
  fail(error: Error): void {
    this.#failure ??= error;
    this.#wake();
  }

  /** Resolves once the digest of chunk `index` is known; rejects with the failure, or the signal's reason. */
  async reach(index: number, signal: AbortSignal): Promise<void> {
    while (index >= this.#frontier) {
      if (this.#failure !== undefined) throw this.#failure;
      signal.throwIfAborted();
      await this.#change(signal);
    }
  }

  #change(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        this.#waiting.delete(done);
        signal.removeEventListener('abort', done);
        resolve();
      };
      this.#waiting.add(done);
      signal.addEventListener('abort', done, { once: true });
    });
  }

  #wake(): void {
    for (const done of [...this.#waiting]) done();
  }
}
