import cliProgress, { type GenericFormatter } from 'cli-progress';
import type { OutputStream } from './terminal.js';

const WIDEST_BAR = 40;
const NARROWEST_BAR = 8;
const REDRAWS_PER_SECOND = 10;

/** A bar in one line that is redrawn in place, with lines that stay above it. For terminals only. */
export class ProgressBar {
  readonly #out: OutputStream;
  readonly #bar: cliProgress.SingleBar;
  #shown: { readonly label: string; readonly size: number } | undefined;

  constructor(out: OutputStream) {
    this.#out = out;
    this.#bar = new cliProgress.SingleBar({
      // It writes text, and asks isTTY and columns: nothing more of a stream.
      stream: out as NodeJS.WritableStream,
      format: formatBar,
      fps: REDRAWS_PER_SECOND,
      barCompleteChar: '#',
      barIncompleteChar: '-',
      clearOnComplete: true,
      // Cut at the width of the terminal here, rather than by switching its wrapping off and on.
      linewrap: true,
      // The signals belong to the command.
      gracefulExit: false,
    });
  }

  /** Shows `figures` beside a bar; a new label or size starts a new bar. */
  show(label: string, bytes: number, size: number, figures: string): void {
    if (this.#shown?.label !== label || this.#shown.size !== size) {
      this.close();
      this.#shown = { label, size };
      this.#bar.start(size, bytes, { label, figures });
    }
    this.#bar.update(bytes, { label, figures });
  }

  /** Adds lines that stay; the bar comes back with the next {@link show}. */
  print(lines: readonly string[]): void {
    if (lines.length === 0) return;
    this.close();
    this.#out.write(lines.map((line) => `${line}\n`).join(''));
  }

  /** Removes the bar. */
  close(): void {
    if (this.#shown !== undefined) this.#bar.stop();
    this.#shown = undefined;
  }
}

/** `receiving [####----]  34.2 %  112 MiB/s  ETA 12 s`, without the bar where there is no room for it. */
const formatBar: GenericFormatter = (options, { progress, maxWidth }, { label, figures }) => {
  const room = maxWidth - 1 - `${label} []  ${figures}`.length;
  const barsize = Math.min(WIDEST_BAR, room);
  const bar =
    barsize < NARROWEST_BAR ? '' : ` [${cliProgress.Format.BarFormat(progress, { ...options, barsize })}]`;
  return `${label}${bar}  ${figures}`.slice(0, maxWidth - 1);
};
