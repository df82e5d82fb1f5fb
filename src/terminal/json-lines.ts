import { IntervalGate } from './interval-gate.js';
import type { Report } from './report.js';
import type { OutputStream, Terminal } from './terminal.js';

/** How often an event that only repeats with other numbers is printed. */
const PROGRESS_INTERVAL_MS = 1000;
const REPEATING = new Set(['waiting', 'reading', 'hashing', 'progress', 'client.progress']);

/**
 * JSON.stringify leaves DEL, the C1 controls and the characters that turn text around as they are; a name
 * from a peer could carry them to the terminal. They only ever stand inside strings.
 */
const UNSAFE = /[\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/** One object as one line of JSON, without any control character but the newline at its end. */
export function formatJsonLine(value: object): string {
  const escaped = JSON.stringify(value).replace(
    UNSAFE,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  return `${escaped}\n`;
}

interface NamedEvent {
  readonly event: string;
  readonly client?: number;
  readonly phase?: string;
}

/** Events as JSON lines on standard output; those that only advance at most once a second. */
export class JsonReport<Event extends NamedEvent> implements Report<Event> {
  readonly #out: OutputStream;
  readonly #gate: IntervalGate;

  constructor({ stdout, nowMs }: Pick<Terminal, 'stdout' | 'nowMs'>) {
    this.#out = stdout;
    this.#gate = new IntervalGate(nowMs, PROGRESS_INTERVAL_MS);
  }

  onEvent(event: Event): void {
    if (event.event === 'client.finished') this.#gate.forget(`client.progress ${event.client} `);
    const key = `${event.event} ${event.client ?? ''} ${event.phase ?? ''}`;
    if (REPEATING.has(event.event) && !this.#gate.pass(key)) return;
    this.#out.write(formatJsonLine(event));
  }

  tick(): void {}

  close(): void {}
}
