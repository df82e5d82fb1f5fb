import { type ErrorCode, toWireBoundError, WireBoundError } from '../errors.js';
import type { Hello } from '../framing/messages.js';
import type { Offer } from './offer.js';
import type { Run, RunLedger } from './run-ledger.js';
import type { ServeRecord } from './serve-record.js';
import type { Session } from './session.js';
import type { Shelf } from './shelf.js';

/** Errors after which the run itself is over, not just one connection of it. */
const FINAL: ReadonlySet<ErrorCode> = new Set(['SOURCE_CHANGED', 'SOURCE_UNREADABLE', 'STOPPED']);

/** Decides which runs are let in, and to what content. */
export class Admission {
  readonly #maxClients: number;
  readonly #shelf: Shelf;
  readonly #ledger: RunLedger;
  readonly #record: ServeRecord;
  /** The run of each session that has been let in, or is about to be. */
  readonly #seats = new Map<Session, string>();
  #closed = false;

  constructor(maxClients: number, shelf: Shelf, ledger: RunLedger, record: ServeRecord) {
    this.#maxClients = maxClients;
    this.#shelf = shelf;
    this.#ledger = ledger;
    this.#record = record;
  }

  /** From now on only runs that were here before come in. */
  close(): void {
    this.#closed = true;
  }

  /** Lets a run in, or throws BUSY, DRAINING or what is wrong with the source. */
  async admit(hello: Hello, session: Session): Promise<{ readonly run: Run; readonly offer: Offer }> {
    const others = [...this.#seats.values()].filter((run) => run !== hello.run);
    if (others.length >= this.#maxClients) throw this.busy();
    if (this.#closed && !this.#ledger.knows(hello.run)) {
      throw new WireBoundError('DRAINING', 'the server is stopping and takes no new clients');
    }
    this.#seats.set(session, hello.run);
    const offer = await this.#currentOffer(hello.run);
    this.#record.size = offer.geometry.size;
    // From here on nothing waits: a run that arrives has a session that will report its end.
    if (session.closed) throw new WireBoundError('CONNECTION_LOST', 'the client left before it was admitted');
    const returning = this.#ledger.knows(hello.run);
    const run = this.#ledger.arrive(hello.run, session.connection.peer);
    this.#record.statistics.active = true;
    if (!returning) this.#record.connected(run, hello.agent);
    return { run, offer };
  }

  /** A session is over, and `error` is why its run has not ended well, if it was the last one of its run. */
  leave(session: Session, last: boolean, error: WireBoundError): void {
    this.#seats.delete(session);
    const { run } = session;
    if (run === undefined || !last) return;
    const { code, message } = error;
    const verdict = { verified: false, code, message };
    if (FINAL.has(code)) this.#ledger.conclude(run, verdict);
    else this.#ledger.lose(run, verdict);
  }

  /** What a client hears that is one too many. */
  busy(): WireBoundError {
    const clients = this.#maxClients === 1 ? 'one client' : `${this.#maxClients} clients`;
    return new WireBoundError('BUSY', `the server already serves ${clients}, as many as it may`);
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
}
