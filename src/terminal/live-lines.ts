import type { OutputStream } from './terminal.js';

/** Where the terminal does not say, or says 0. */
const DEFAULT_COLUMNS = 80;

/**
 * Lines that stay, above a block at the bottom that is redrawn in place. Where the cursor may not be moved
 * there is no block, only the lines that stay.
 */
export class LiveLines {
  readonly #out: OutputStream;
  readonly #live: boolean;
  #block: readonly string[] = [];

  constructor(out: OutputStream, live: boolean) {
    this.#out = out;
    this.#live = live;
  }

  /** Adds lines that stay, and replaces the block below them if there is a new one. */
  print(lines: readonly string[], block: readonly string[] = this.#block): void {
    const fitted = this.#fit(block);
    if (lines.length > 0 || fitted.join('\n') !== this.#block.join('\n')) this.#draw(lines, fitted);
  }

  /** Removes the block. */
  close(): void {
    this.print([], []);
  }

  /** A line that wrapped would throw off the count of lines to go up. */
  #fit(block: readonly string[]): readonly string[] {
    const width = Math.max(1, (this.#out.columns || DEFAULT_COLUMNS) - 1);
    return this.#live ? block.map((line) => line.slice(0, width)) : [];
  }

  /** One write, so that nothing flickers and no other output comes between. */
  #draw(lines: readonly string[], block: readonly string[]): void {
    const erase = this.#block.length > 0 ? `\x1b[${this.#block.length}A\r\x1b[J` : '';
    this.#out.write(erase + [...lines, ...block].map((line) => `${line}\n`).join(''));
    this.#block = block;
  }
}
