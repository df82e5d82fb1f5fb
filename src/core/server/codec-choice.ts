import type { ClientKeepalive } from '../framing/messages.js';
import { CodecChooser } from './codec-chooser.js';
import type { PayloadStore } from './payload-store.js';

/** How a server encodes. */
export interface CodecPolicy {
  /** Names of the payload store's codecs, in its order. */
  readonly names: readonly string[];
  /** Decide per client and chunk; otherwise every chunk that shrinks is encoded with the one codec there is. */
  readonly automatic: boolean;
}

const KIB = 1024;
const MIB = 1024 * KIB;
/**
 * A client is asked for a report after so many bytes on the wire, and after a share of the time since it came: often at
 * first, then less, since each report takes a processor away from something for a moment.
 */
const REPORT_BYTES = 64 * KIB;
const REPORT_SHARE = 0.25;
const LONGEST_REPORT_MS = 100;
/**
 * While the link's rate is not known, raw chunks are measurements: what follows a batch of them waits for the report
 * on it, since otherwise all that fits into the buffers would go raw. The first batch is small, for a slow link; where it
 * took no time, larger ones tell more.
 */
const FIRST_BATCH = 256 * KIB;
const NEXT_BATCH = MIB;
/** After so many bytes that told nothing the link is taken to be faster than the client. */
const MEASURED_BYTES = 2 * MIB;

/**
 * Codecs between one server and one client: those that both have, how they are numbered on this connection, and
 * which one the next chunk gets.
 */
export class CodecChoice {
  /** What the manifest lists. */
  readonly names: readonly string[];
  readonly #policy: CodecPolicy;
  /** The store's numbers, in the manifest's order. */
  readonly #numbers: readonly number[];
  readonly #chooser: CodecChooser;
  #current = 0;
  readonly #openedAt = performance.now();
  #askedAt = this.#openedAt;
  #askedBytes = 0;
  /** The report on so many bytes is the one on a measurement. */
  #measured = Number.POSITIVE_INFINITY;
  /** Bytes that have gone raw since the link's rate is not known. */
  #unmeasured = 0;

  constructor(policy: CodecPolicy, decodable: readonly string[], payloads: PayloadStore) {
    this.names = policy.names.filter((name) => decodable.includes(name));
    this.#policy = policy;
    this.#numbers = this.names.map((name) => 1 + policy.names.indexOf(name));
    this.#chooser = new CodecChooser(this.#numbers, (index, codec) => payloads.forecast(index, codec));
  }

  /** Whether the client's reports decide. */
  get automatic(): boolean {
    return this.#policy.automatic && this.#numbers.length > 0;
  }

  /** Whether the next batch is a measurement: reports are wanted before and after it, and what follows waits. */
  get measuring(): boolean {
    const known = Number.isFinite(this.#chooser.linkRate);
    return this.automatic && !known && this.#unmeasured < MEASURED_BYTES;
  }

  /** How many bytes of the file may be on their way to the socket at a time. */
  get reach(): number {
    if (!this.measuring) return Number.POSITIVE_INFINITY;
    return this.#unmeasured === 0 ? FIRST_BATCH : NEXT_BATCH;
  }

  /** Whether the last chunk was to be encoded. */
  get encodes(): boolean {
    return this.#current !== 0;
  }

  /** The store's number of the codec for a chunk. */
  choose(index: number, rawLength: number): number {
    this.#current = this.automatic ? this.#chosen(index, rawLength) : (this.#numbers[0] ?? 0);
    return this.#current;
  }

  /** The number on the wire of one of the store's codecs. */
  wireNumber(codec: number): number {
    return codec === 0 ? 0 : 1 + this.#numbers.indexOf(codec);
  }

  /** A report has come; `serverWaited`: most of the time before it went into the server's own work. */
  report(report: ClientKeepalive, serverWaited: boolean): void {
    const measurement = report.received >= this.#measured;
    if (measurement) this.#measured = Number.POSITIVE_INFINITY;
    this.#chooser.report(report, serverWaited, measurement);
  }

  /** So many bytes have gone raw. */
  sentRaw(bytes: number): void {
    this.#unmeasured += bytes;
  }

  /** A measurement ends so many bytes into the connection. */
  measures(bytesSent: number): void {
    this.#measured = bytesSent;
  }

  /** Whether, so many bytes into the connection, a report should be asked for. */
  reportDue(bytesSent: number): boolean {
    if (!this.automatic || bytesSent - this.#askedBytes < REPORT_BYTES) return false;
    const pause = Math.min(LONGEST_REPORT_MS, REPORT_SHARE * (this.#askedAt - this.#openedAt));
    return performance.now() - this.#askedAt >= pause;
  }

  /** A report is asked for, so many bytes into the connection. */
  asked(bytesSent: number): void {
    this.#askedAt = performance.now();
    this.#askedBytes = bytesSent;
  }

  #chosen(index: number, rawLength: number): number {
    const known = Number.isFinite(this.#chooser.linkRate);
    const codec = this.#chooser.choose(index, rawLength);
    if (known && !Number.isFinite(this.#chooser.linkRate)) this.#unmeasured = 0;
    return codec;
  }

  /** What is used now and, where it was chosen, why: name of the codec and the link's rate in bytes per second. */
  get current(): { readonly codec: string; readonly linkRate?: number } {
    const codec = this.#policy.names[this.#current - 1] ?? 'none';
    const { linkRate } = this.#chooser;
    return this.automatic && Number.isFinite(linkRate) ? { codec, linkRate } : { codec };
  }
}
