import { RateMeter } from '../core/progress.js';
import type { ServeEvent } from '../core/server/serve-event.js';
import { ActiveClients } from './active-clients.js';
import { describeProgress } from './describe-progress.js';
import { IntervalGate } from './interval-gate.js';
import { JsonReport } from './json-lines.js';
import { LiveLines } from './live-lines.js';
import type { Report, ReportOptions } from './report.js';
import { describeServeEvent } from './serve-lines.js';
import { mayMoveCursor, type Terminal } from './terminal.js';

const LIVE_INTERVAL_MS = 200;
const PLAIN_INTERVAL_MS = 5000;
/** More lines than this would push the addresses off a small terminal. */
const MOST_CLIENT_LINES = 12;

/** What happens before bytes go out: taking content into memory, or the first pass of SHA-256. */
interface Preparation {
  readonly verb: string;
  readonly meter: RateMeter;
  readonly size: number | undefined;
}

/** The view of a server that was asked for: JSON lines, or text for a person. */
export function openServeReport(terminal: Terminal, { json, quiet }: ReportOptions): Report<ServeEvent> {
  return json ? new JsonReport<ServeEvent>(terminal) : new ServeReport(terminal, quiet);
}

/**
 * A server for people: a line for each thing that happened and, below, one for each client that is active.
 * Where the cursor may not be moved, one line for all of them every five seconds. Quiet: warnings alone.
 */
export class ServeReport implements Report<ServeEvent> {
  readonly #nowMs: () => number;
  readonly #live: boolean;
  readonly #quiet: boolean;
  readonly #lines: LiveLines;
  readonly #gate: IntervalGate;
  readonly #clients: ActiveClients;
  #preparation: Preparation | undefined;

  constructor(terminal: Terminal, quiet: boolean) {
    this.#nowMs = terminal.nowMs;
    this.#quiet = quiet;
    this.#live = mayMoveCursor(terminal);
    this.#lines = new LiveLines(terminal.stderr, this.#live);
    this.#gate = new IntervalGate(terminal.nowMs, this.#live ? LIVE_INTERVAL_MS : PLAIN_INTERVAL_MS);
    this.#clients = new ActiveClients(terminal.nowMs);
  }

  onEvent(event: ServeEvent): void {
    if (this.#quiet && event.event !== 'warning') return;
    const wasIdle = this.#idle;
    this.#clients.onEvent(event);
    this.#trackPreparation(event);
    // Without a terminal, the first figures are due after one interval: what is done by then needs none. Before
    // the port is open, they are all that tells why nothing else happens.
    if (wasIdle && !this.#live && event.event !== 'reading') this.#gate.pass();
    const lines = describeServeEvent(this.#withEta(event));
    if (event.event === 'summary') this.#lines.print(lines, []);
    else if (lines.length > 0) this.#lines.print(lines, this.#block());
    else this.tick();
  }

  tick(): void {
    if (this.#idle || !this.#gate.pass()) return;
    if (this.#live) this.#lines.print([], this.#block());
    else this.#lines.print(this.#overview());
  }

  close(): void {
    this.#lines.close();
  }

  /** Nothing moves whose progress could be told. */
  get #idle(): boolean {
    return this.#preparation === undefined && this.#clients.count === 0;
  }

  #block(): readonly string[] {
    return [...describePreparation(this.#preparation), ...this.#clients.lines(MOST_CLIENT_LINES)];
  }

  #overview(): readonly string[] {
    const parts = [...describePreparation(this.#preparation), ...this.#clients.overview()];
    return parts.length > 0 ? [parts.join('; ')] : [];
  }

  #trackPreparation(event: ServeEvent): void {
    if (event.event === 'reading') this.#prepare('reading into memory', event.bytes, undefined);
    if (event.event === 'hashing') this.#prepare('hashing', event.bytes, event.size);
    if (event.event === 'listening' || event.event === 'digest') this.#preparation = undefined;
  }

  #prepare(verb: string, bytes: number, size: number | undefined): void {
    if (this.#preparation?.verb !== verb) {
      this.#preparation = { verb, meter: new RateMeter(this.#nowMs, undefined, bytes), size };
    }
    this.#preparation.meter.update(bytes);
  }

  /** The server may leave the estimate to the one who watches the rates. */
  #withEta(event: ServeEvent): ServeEvent {
    const etaSeconds = this.#clients.slowestEtaSeconds();
    if (event.event !== 'draining' || event.etaSeconds !== undefined || etaSeconds === undefined)
      return event;
    return { ...event, etaSeconds };
  }
}

function describePreparation(preparation: Preparation | undefined): readonly string[] {
  if (preparation === undefined) return [];
  return [`${preparation.verb}: ${describeProgress(preparation.meter, preparation.size)}`];
}
