import type { GetEvent } from '../core/client/get-event.js';
import type { VerifyEvent } from '../core/client/verify-event.js';
import { RateMeter } from '../core/progress.js';
import { formatBytes } from '../core/units.js';
import { describeProgress } from './describe-progress.js';
import { describeGetEvent } from './get-lines.js';
import { IntervalGate } from './interval-gate.js';
import { JsonReport } from './json-lines.js';
import { ProgressBar } from './progress-bar.js';
import type { Report, ReportOptions } from './report.js';
import { mayMoveCursor, type OutputStream, type Terminal } from './terminal.js';
import { describeVerifyEvent } from './verify-lines.js';

const LIVE_INTERVAL_MS = 100;
const PLAIN_INTERVAL_MS = 5000;

/** The view of a client that was asked for: JSON lines, or text for a person. */
export function openGetReport(terminal: Terminal, { json, quiet }: ReportOptions): Report<GetEvent> {
  return json ? new JsonReport<GetEvent>(terminal) : new GetReport(terminal, quiet, describeGetEvent);
}

/** The same for a comparison. */
export function openVerifyReport(terminal: Terminal, { json, quiet }: ReportOptions): Report<VerifyEvent> {
  return json ? new JsonReport<VerifyEvent>(terminal) : new GetReport(terminal, quiet, describeVerifyEvent);
}

/**
 * A client for people: a progress bar, or a line every five seconds where the cursor may not be moved; PASS or
 * FAIL at the end. Quiet: warnings and FAIL alone.
 */
export class GetReport<Event extends GetEvent | VerifyEvent> implements Report<Event> {
  readonly #nowMs: () => number;
  readonly #out: OutputStream;
  readonly #quiet: boolean;
  readonly #describe: (event: Event) => readonly string[];
  readonly #bar: ProgressBar | undefined;
  readonly #progressGate: IntervalGate;
  readonly #waitingGate: IntervalGate;
  #phase = '';
  #size = 0;
  #meter: RateMeter;

  constructor(terminal: Terminal, quiet: boolean, describe: (event: Event) => readonly string[]) {
    this.#describe = describe;
    this.#nowMs = terminal.nowMs;
    this.#out = terminal.stderr;
    this.#quiet = quiet;
    this.#bar = mayMoveCursor(terminal) && !quiet ? new ProgressBar(terminal.stderr) : undefined;
    const intervalMs = this.#bar === undefined ? PLAIN_INTERVAL_MS : LIVE_INTERVAL_MS;
    this.#progressGate = new IntervalGate(terminal.nowMs, intervalMs);
    this.#waitingGate = new IntervalGate(terminal.nowMs, PLAIN_INTERVAL_MS);
    this.#meter = new RateMeter(terminal.nowMs);
  }

  onEvent(event: Event): void {
    if (this.#quiet && !isTrouble(event)) return;
    if (event.event === 'result') this.close();
    if (event.event === 'progress') this.#advance(event);
    // A client that waits says so again and again.
    else if (event.event !== 'waiting' || this.#waitingGate.pass()) this.#print(this.#describe(event));
  }

  tick(): void {
    if (this.#phase === '' || !this.#progressGate.pass()) return;
    const figures = describeProgress(this.#meter, this.#size);
    const share = `${formatBytes(this.#meter.bytes)} of ${formatBytes(this.#size)}`;
    if (this.#bar === undefined) this.#print([`${this.#phase}  ${share}  ${figures}`]);
    else this.#bar.show(this.#phase, this.#meter.bytes, this.#size, figures);
  }

  close(): void {
    this.#phase = '';
    this.#bar?.close();
  }

  #advance({ phase, bytes, size }: Extract<GetEvent, { event: 'progress' }>): void {
    if (this.#phase !== phase) {
      // Without a bar, the first line is due after one interval: a short transfer needs none.
      if (this.#bar === undefined && this.#phase === '') this.#progressGate.pass();
      this.#phase = phase;
      this.#meter = new RateMeter(this.#nowMs, undefined, bytes);
    }
    this.#size = size;
    this.#meter.update(bytes);
    this.tick();
  }

  #print(lines: readonly string[]): void {
    if (this.#bar !== undefined) this.#bar.print(lines);
    else if (lines.length > 0) this.#out.write(lines.map((line) => `${line}\n`).join(''));
  }
}

function isTrouble(event: GetEvent | VerifyEvent): boolean {
  if (event.event === 'result') return event.result === 'FAIL' || event.result === 'DIFFERENT';
  return event.event === 'warning';
}
