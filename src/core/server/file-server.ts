import type { Server, Socket } from 'node:net';
import { toWireBoundError, WireBoundError } from '../errors.js';
import type { Verdict } from '../framing/messages.js';
import { Connection } from '../transport/connection.js';
import { loadTcpRecords, type ReadTcpRecord } from '../transport/tcp-record.js';
import { Admission } from './admission.js';
import { clientLimit } from './client-limit.js';
import { Crowd } from './crowd.js';
import { openListener } from './open-listener.js';
import { RateLimit } from './rate-limit.js';
import { type Run, RunLedger } from './run-ledger.js';
import type { ServeSummary } from './serve-event.js';
import { SERVE_LIMITS, type ServeLimits } from './serve-limits.js';
import { ServeRecord, type ServeRecordOptions } from './serve-record.js';
import { Session, type SessionHost } from './session.js';
import type { Shelf } from './shelf.js';

/** How a server is set up. */
export interface FileServerOptions extends ServeRecordOptions {
  /** 0: the system picks one. */
  readonly port: number;
  /** Undefined: all interfaces. */
  readonly host?: string | undefined;
  /** Undefined: as many as the limit of open files allows, at most 4096. */
  readonly maxClients?: number | undefined;
  /** Drain by itself once this many runs have verified. */
  readonly until?: number | undefined;
  /** Bytes per second for all clients together; undefined: no limit. */
  readonly bytesPerSecond?: number | undefined;
  readonly limits?: Partial<ServeLimits>;
}

/** How long clients are given to hear that the server stops, milliseconds. */
const STOP_MS = 1_000;
/** Connections beyond the limit of clients that may be in their hello, or hear that they are not let in. */
const SPARE_CONNECTIONS = 24;

/** Serves what is on a shelf to any number of clients until it is drained or stopped. */
export class FileServer {
  readonly #shelf: Shelf;
  readonly #options: FileServerOptions;
  readonly #host: SessionHost;
  readonly #sessions = new Set<Session>();
  readonly #ledger: RunLedger;
  readonly #record: ServeRecord;
  readonly #admission: Admission;
  readonly #maxClients: number;
  #server: Server | undefined;
  #readRecord: ReadTcpRecord | undefined;
  #state: 'open' | 'draining' | 'closed' = 'open';
  #resolveFinished!: (summary: ServeSummary) => void;
  /** Resolves with the statistics once the server has drained or stopped. */
  readonly finished = new Promise<ServeSummary>((resolve) => {
    this.#resolveFinished = resolve;
  });

  constructor(shelf: Shelf, options: FileServerOptions) {
    this.#shelf = shelf;
    this.#options = options;
    this.#maxClients = clientLimit(options.maxClients);
    const limits = { ...SERVE_LIMITS, ...options.limits };
    const record = new ServeRecord(options);
    const ledger = new RunLedger(limits.returnMs, {
      finished: (run, verdict) => this.#finished(run, verdict),
    });
    const admission = new Admission(this.#maxClients, shelf, ledger, record);
    this.#record = record;
    this.#ledger = ledger;
    this.#admission = admission;
    this.#host = {
      limits,
      rate: new RateLimit(options.bytesPerSecond),
      codecs: options.codecs,
      crowd: new Crowd(),
      admit: (hello, session) => admission.admit(hello, session),
      sent: (run, sent, using) => record.sent(run, sent, using),
      concluded: (run, verdict) => ledger.conclude(run, verdict),
      ended: (session, error) => this.#ended(session, error),
    };
  }

  /** Opens the port and starts to prepare the file; resolves when clients can connect. */
  async start(): Promise<void> {
    const { port, host, codecs } = this.#options;
    if (codecs.automatic) this.#readRecord = await loadTcpRecords();
    const listener = await openListener(port, host, (socket) => this.#accept(socket));
    this.#server = listener.server;
    this.#record.listening(listener, () => this.#ledger.open);
    this.#shelf.current().catch((error: unknown) => this.#record.warn(toWireBoundError(error).message));
  }

  /** Takes no new runs, lets the open ones end, then finishes. */
  drain(): void {
    if (this.#state !== 'open') return;
    this.#state = 'draining';
    this.#admission.close();
    this.#record.draining(this.#ledger.open);
    this.#finishIfDone();
  }

  /** Ends everything now; clients are told if they listen. */
  async stop(): Promise<void> {
    if (this.#state === 'closed') return;
    const stopped = new WireBoundError('STOPPED', 'the server was stopped');
    const told = Promise.all([...this.#sessions].map((session) => session.fail(stopped)));
    await Promise.race([told, new Promise((resolve) => setTimeout(resolve, STOP_MS))]);
    for (const session of this.#sessions) session.connection.destroy();
    this.#ledger.concludeAll({ verified: false, code: 'STOPPED', message: stopped.message });
    await this.#finish();
  }

  /** Called by whoever learns it: the digest of what is served now. */
  digestKnown(sha256: string): void {
    this.#record.sha256 = sha256;
  }

  #accept(socket: Socket): void {
    const connection = new Connection(socket, this.#readRecord);
    const session = new Session(connection, this.#host);
    this.#record.statistics.connections++;
    this.#sessions.add(session);
    socket.on('data', (bytes: Buffer) => session.feed(bytes));
    socket.on('end', () => session.peerEnded());
    const beyond = this.#sessions.size - this.#maxClients;
    if (beyond > 2 * SPARE_CONNECTIONS) connection.destroy(this.#admission.busy());
    else if (beyond > SPARE_CONNECTIONS) void session.fail(this.#admission.busy());
  }

  #finished(run: Run, verdict: Verdict): void {
    this.#record.finished(run, verdict);
    this.#countActive();
    const { until } = this.#options;
    if (until !== undefined && this.#ledger.count('verified') >= until) this.drain();
    this.#finishIfDone();
  }

  #ended(session: Session, error: WireBoundError): void {
    this.#sessions.delete(session);
    this.#record.statistics.bytesOnWire += session.connection.bytesSent;
    const { run, connection } = session;
    if (run === undefined && error.code !== 'CONNECTION_LOST') {
      this.#record.warn(`${connection.peer}: ${error.message}`);
    }
    const last = run !== undefined && ![...this.#sessions].some((other) => other.run === run);
    this.#admission.leave(session, last, error);
    this.#countActive();
    this.#finishIfDone();
  }

  #countActive(): void {
    this.#record.statistics.active = this.#ledger.count('active') > 0;
  }

  #finishIfDone(): void {
    if (this.#state === 'draining' && this.#ledger.open.length === 0) void this.#finish();
  }

  async #finish(): Promise<void> {
    if (this.#state === 'closed') return;
    this.#state = 'closed';
    this.#admission.close();
    this.#record.stop();
    this.#server?.close();
    // A client that has just given its verdict waits for our end of the connection: let it see that.
    await Promise.race([
      Promise.all([...this.#sessions].filter(({ run }) => run !== undefined).map((session) => session.over)),
      new Promise((resolve) => setTimeout(resolve, STOP_MS)),
    ]);
    for (const session of this.#sessions) session.connection.destroy();
    await this.#shelf.close();
    const [verified, failed] = [this.#ledger.count('verified'), this.#ledger.count('failed')];
    this.#resolveFinished(this.#record.summarize({ verified, failed }));
  }
}
