import type { Server, Socket } from 'node:net';
import { type ErrorCode, toWireBoundError, WireBoundError } from '../errors.js';
import type { Hello, Verdict } from '../framing/messages.js';
import { Connection } from '../transport/connection.js';
import { clientLimit } from './client-limit.js';
import type { CodecChoice, CodecPolicy } from './codec-choice.js';
import { listenAddresses } from './listen-addresses.js';
import type { Offer } from './offer.js';
import { openListener } from './open-listener.js';
import { RateLimit } from './rate-limit.js';
import { type Run, RunLedger } from './run-ledger.js';
import type { Sent } from './send-chunks.js';
import type { ServeEvent, ServeSummary } from './serve-event.js';
import { SERVE_LIMITS, type ServeLimits } from './serve-limits.js';
import { Session, type SessionHost } from './session.js';
import type { Shelf } from './shelf.js';
import { Statistics } from './statistics.js';

/** How a server is set up. */
export interface FileServerOptions {
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
  /** How the shelf's payloads are encoded. */
  readonly codecs: CodecPolicy;
  /** What is on offer, for the `listening` event. */
  readonly described: {
    readonly name: string;
    readonly size: number;
    readonly chunkSize: number;
    readonly source: string;
  };
  /** Bytes that came from a remote source so far. */
  bytesFetched?(): number;
  readonly limits?: Partial<ServeLimits>;
  readonly onEvent: (event: ServeEvent) => void;
}

/** How often the progress of clients is told, and refused strangers are warned of, milliseconds. */
const PROGRESS_MS = 500;
/** How long clients are given to hear that the server stops, milliseconds. */
const STOP_MS = 300;
/** Connections beyond the limit of clients that may be in their hello, or hear that they are not let in. */
const SPARE_CONNECTIONS = 24;
/** Errors after which the run itself is over, not just this connection. */
const FINAL: ReadonlySet<ErrorCode> = new Set(['SOURCE_CHANGED', 'SOURCE_UNREADABLE', 'STOPPED']);

/** Serves what is on a shelf to any number of clients until it is drained or stopped. */
export class FileServer {
  readonly #shelf: Shelf;
  readonly #options: FileServerOptions;
  readonly #host: SessionHost;
  readonly #sessions = new Set<Session>();
  /** The run of each session that has been let in, or is about to be. */
  readonly #seats = new Map<Session, string>();
  readonly #ledger: RunLedger;
  readonly #statistics = new Statistics();
  readonly #maxClients: number;
  readonly #told = new Map<Run, number>();
  readonly #using = new WeakMap<Run, CodecChoice['current']>();
  #server: Server | undefined;
  #progress: NodeJS.Timeout | undefined;
  #warnedAt = Number.NEGATIVE_INFINITY;
  #state: 'open' | 'draining' | 'closed' = 'open';
  #sha256: string | undefined;
  /** Of the content that is served now, bytes. */
  #size: number;
  #resolveFinished!: (summary: ServeSummary) => void;
  /** Resolves with the statistics once the server has drained or stopped. */
  readonly finished = new Promise<ServeSummary>((resolve) => {
    this.#resolveFinished = resolve;
  });

  constructor(shelf: Shelf, options: FileServerOptions) {
    this.#shelf = shelf;
    this.#options = options;
    this.#size = options.described.size;
    this.#maxClients = clientLimit(options.maxClients);
    const limits = { ...SERVE_LIMITS, ...options.limits };
    this.#ledger = new RunLedger(limits.returnMs, {
      finished: (run, verdict) => this.#finished(run, verdict),
    });
    this.#host = {
      limits,
      rate: new RateLimit(options.bytesPerSecond),
      codecs: options.codecs,
      admit: (hello, session) => this.#admit(hello, session),
      sent: (run, sent, using) => this.#sent(run, sent, using),
      concluded: (run, verdict) => this.#ledger.conclude(run, verdict),
      ended: (session, error) => this.#ended(session, error),
    };
  }

  /** Opens the port and starts to prepare the file; resolves when clients can connect. */
  async start(): Promise<void> {
    const { described, onEvent } = this.#options;
    const listener = await openListener(this.#options.port, this.#options.host, (socket) =>
      this.#accept(socket),
    );
    this.#server = listener.server;
    this.#progress = setInterval(() => this.#tellProgress(), PROGRESS_MS);
    onEvent({
      event: 'listening',
      ...described,
      chunks: Math.ceil(described.size / described.chunkSize),
      codec: this.#codec,
      port: listener.port,
      addresses: listenAddresses(listener.host),
    });
    this.#shelf.current().catch((error: unknown) => this.#warn(toWireBoundError(error).message));
  }

  /** Takes no new runs, lets the open ones end, then finishes. */
  drain(): void {
    if (this.#state !== 'open') return;
    this.#state = 'draining';
    const open = this.#ledger.open;
    const { activeSeconds, bytesSent } = this.#statistics;
    const left = Math.max(0, ...open.map((run) => this.#size - run.bytes));
    const etaSeconds = (left * open.length) / (bytesSent / activeSeconds);
    this.#options.onEvent({
      event: 'draining',
      transfers: open.length,
      ...(Number.isFinite(etaSeconds) ? { etaSeconds } : {}),
    });
    this.#finishIfDone();
  }

  /** Ends everything now; clients are told if they listen. */
  async stop(): Promise<void> {
    if (this.#state === 'closed') return;
    const stopped = new WireBoundError('STOPPED', 'the server was stopped');
    const told = Promise.all([...this.#sessions].map((session) => session.fail(stopped)));
    await Promise.race([told, new Promise((resolve) => setTimeout(resolve, STOP_MS))]);
    this.#ledger.concludeAll({ verified: false, code: 'STOPPED', message: stopped.message });
    await this.#finish();
  }

  /** Called by whoever learns it: the digest of what is served now. */
  digestKnown(sha256: string): void {
    this.#sha256 = sha256;
  }

  #accept(socket: Socket): void {
    const connection = new Connection(socket);
    const session = new Session(connection, this.#host);
    this.#statistics.connections++;
    this.#sessions.add(session);
    socket.on('data', (bytes: Buffer) => session.feed(bytes));
    socket.on('end', () => session.peerEnded());
    const beyond = this.#sessions.size - this.#maxClients;
    if (beyond > 2 * SPARE_CONNECTIONS) connection.destroy(this.#busy());
    else if (beyond > SPARE_CONNECTIONS) void session.fail(this.#busy());
  }

  async #admit(hello: Hello, session: Session): Promise<{ run: Run; offer: Offer }> {
    const others = [...this.#seats.values()].filter((run) => run !== hello.run);
    if (others.length >= this.#maxClients) throw this.#busy();
    if (this.#state !== 'open' && !this.#ledger.knows(hello.run)) {
      throw new WireBoundError('DRAINING', 'the server is stopping and takes no new clients');
    }
    this.#seats.set(session, hello.run);
    const offer = await this.#currentOffer(hello.run);
    this.#size = offer.geometry.size;
    // From here on nothing waits: a run that arrives has a session that will report its end.
    if (session.closed) throw new WireBoundError('CONNECTION_LOST', 'the client left before it was admitted');
    const returning = this.#ledger.knows(hello.run);
    const run = this.#ledger.arrive(hello.run, session.connection.peer);
    this.#statistics.active = true;
    if (!returning) {
      const { number: client, address } = run;
      this.#options.onEvent({ event: 'client.connected', client, address, agent: hello.agent });
    }
    return { run, offer };
  }

  /** A run that comes back to a source that is no good any more is over: nobody needs to wait for it. */
  async #currentOffer(id: string): Promise<Offer> {
    try {
      const offer = await this.#shelf.current();
      await offer.checkSize();
      return offer;
    } catch (error) {
      const { code, message } = toWireBoundError(error);
      const run = this.#ledger.find(id);
      if (run !== undefined && FINAL.has(code))
        this.#ledger.conclude(run, { verified: false, code, message });
      throw error;
    }
  }

  /** What `--codec` was given, in effect. */
  get #codec(): string {
    const { names, automatic } = this.#options.codecs;
    return automatic ? 'auto' : (names[0] ?? 'none');
  }

  #sent(run: Run, sent: Sent, using: CodecChoice['current']): void {
    this.#statistics.sent(sent);
    this.#using.set(run, using);
    run.bytes = sent.position;
  }

  #finished(run: Run, verdict: Verdict): void {
    const seconds = (performance.now() - run.startedAtMs) / 1000;
    this.#statistics.concluded(verdict, seconds);
    this.#options.onEvent({
      event: 'client.finished',
      client: run.number,
      address: run.address,
      bytes: run.bytes,
      seconds,
      ...this.#using.get(run),
      ...verdict,
    });
    this.#told.delete(run);
    this.#statistics.active = this.#ledger.count('active') > 0;
    const { until } = this.#options;
    if (until !== undefined && this.#ledger.count('verified') >= until) this.drain();
    this.#finishIfDone();
  }

  #ended(session: Session, error: WireBoundError): void {
    this.#sessions.delete(session);
    this.#seats.delete(session);
    this.#statistics.bytesOnWire += session.connection.bytesSent;
    const { run } = session;
    const { code, message } = error;
    if (run === undefined) {
      if (code !== 'CONNECTION_LOST') this.#warn(`${session.connection.peer}: ${message}`);
    } else if (![...this.#sessions].some((other) => other.run === run)) {
      const verdict = { verified: false, code, message };
      if (FINAL.has(code)) this.#ledger.conclude(run, verdict);
      else this.#ledger.lose(run, verdict);
    }
    this.#statistics.active = this.#ledger.count('active') > 0;
    this.#finishIfDone();
  }

  #finishIfDone(): void {
    if (this.#state === 'draining' && this.#ledger.open.length === 0) void this.#finish();
  }

  async #finish(): Promise<void> {
    if (this.#state === 'closed') return;
    this.#state = 'closed';
    clearInterval(this.#progress);
    this.#server?.close();
    // A client that has just given its verdict waits for our end of the connection: let it see that.
    await Promise.race([
      Promise.all([...this.#sessions].filter(({ run }) => run !== undefined).map((session) => session.over)),
      new Promise((resolve) => setTimeout(resolve, STOP_MS)),
    ]);
    for (const session of this.#sessions) session.connection.destroy();
    await this.#shelf.close();
    const summary = this.#summary();
    this.#options.onEvent({ event: 'summary', ...summary });
    this.#resolveFinished(summary);
  }

  #summary(): ServeSummary {
    const {
      limitedBy,
      bytesSent,
      payloadBytes,
      bytesOnWire,
      chunksEncoded,
      chunksRaw,
      connections,
      bytesFromStorage,
    } = this.#statistics;
    const { name, chunkSize } = this.#options.described;
    return {
      verified: this.#ledger.count('verified'),
      failed: this.#ledger.count('failed'),
      connections,
      name,
      size: this.#size,
      chunkSize,
      codec: this.#codec,
      ...(this.#sha256 === undefined ? {} : { sha256: this.#sha256 }),
      bytesSent,
      payloadBytes,
      bytesOnWire,
      chunksEncoded,
      chunksRaw,
      bytesFromStorage,
      bytesFromSource: this.#options.bytesFetched?.() ?? 0,
      seconds: this.#statistics.seconds,
      activeSeconds: this.#statistics.activeSeconds,
      ...(limitedBy === undefined ? {} : { limitedBy }),
      peakMemory: this.#statistics.peakMemory,
    };
  }

  #tellProgress(): void {
    const size = this.#size;
    for (const run of this.#ledger.open) {
      if (this.#told.get(run) === run.bytes) continue;
      this.#told.set(run, run.bytes);
      const { number: client, address, bytes } = run;
      const using = this.#using.get(run) ?? { codec: 'none' };
      this.#options.onEvent({ event: 'client.progress', client, address, bytes, size, ...using });
    }
  }

  /** Strangers at the port may come in floods: one line for them now and then is enough. */
  #warn(message: string): void {
    const now = performance.now();
    if (now - this.#warnedAt < PROGRESS_MS) return;
    this.#warnedAt = now;
    this.#options.onEvent({ event: 'warning', message });
  }

  #busy(): WireBoundError {
    const clients = this.#maxClients === 1 ? 'one client' : `${this.#maxClients} clients`;
    return new WireBoundError('BUSY', `the server already serves ${clients}, as many as it may`);
  }
}
