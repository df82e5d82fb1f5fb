import type { Loan } from '../../../core/source/chunk-source.js';
import type { Mapping } from './mapping-binding.js';

/** A mapped span of a file that knows how many of its pages are lent, and stays mapped until none is. */
export class MappedWindow {
  readonly #offset: number;
  #mapping: Mapping | undefined;
  #loans = 0;
  #onIdle: (() => void) | undefined;

  /** Takes over the mapping of the bytes at `offset` of the file. */
  constructor(offset: number, mapping: Mapping) {
    this.#offset = offset;
    this.#mapping = mapping;
  }

  get isIdle(): boolean {
    return this.#loans === 0;
  }

  /** Lends bytes by their place in the file; undefined when they are not all in here, or it is unmapped. */
  lend(offset: number, length: number): Loan | undefined {
    const start = offset - this.#offset;
    if (this.#mapping === undefined || start < 0 || start + length > this.#mapping.bytes.length) {
      return undefined;
    }
    let lent = true;
    this.#loans += 1;
    return {
      bytes: this.#mapping.bytes.subarray(start, start + length),
      release: () => {
        if (!lent) return;
        lent = false;
        this.#loans -= 1;
        if (this.#loans === 0) this.#onIdle?.();
      },
    };
  }

  /** Waits until nothing is lent, then unmaps; call once, and lend nothing afterwards. */
  async close(): Promise<void> {
    while (this.#loans > 0) {
      await new Promise<void>((resolve) => {
        this.#onIdle = resolve;
      });
    }
    this.unmap();
  }

  /** Unmaps at once, or throws when pages are lent. Does nothing the second time. */
  unmap(): void {
    if (this.#loans > 0) throw new Error(`${this.#loans} spans of the window are lent`);
    const mapping = this.#mapping;
    this.#mapping = undefined;
    mapping?.unmap();
  }
}
