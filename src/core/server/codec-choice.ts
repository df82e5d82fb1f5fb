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

/** A client is asked for a report after so many bytes on the wire: often at first, then less. */
const LEAST_MARK = 64 * 1024;
const MOST_MARK = 2 * 1024 * 1024;
/**
 * The first chunks are measurements: what follows one of them waits for the report on it. So are the first ones after
 * the link's rate has become too old to be believed: otherwise all that fits into the buffers would go raw.
 */
const MEASUREMENTS = 4;

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
  #nextMark = 0;
  #marks = 0;
  /** Marks up to which the link's rate is measured again, unless it is known before. */
  #measureUntil = 0;

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

  /** Whether the next chunk should wait for a report on the last one. */
  get measuring(): boolean {
    if (!this.automatic) return false;
    const { linkRate } = this.#chooser;
    return this.#marks <= MEASUREMENTS || (this.#marks < this.#measureUntil && !Number.isFinite(linkRate));
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
    this.#chooser.report(report, serverWaited);
  }

  /** Whether, so many bytes into the connection, a report should be asked for. */
  markDue(bytesSent: number): boolean {
    if (!this.automatic || (!this.measuring && bytesSent < this.#nextMark)) return false;
    this.#marks++;
    this.#nextMark = bytesSent + Math.min(MOST_MARK, Math.max(LEAST_MARK, bytesSent / 4));
    return true;
  }

  #chosen(index: number, rawLength: number): number {
    const known = Number.isFinite(this.#chooser.linkRate);
    const codec = this.#chooser.choose(index, rawLength);
    if (known && !Number.isFinite(this.#chooser.linkRate)) this.#measureUntil = this.#marks + MEASUREMENTS;
    return codec;
  }

  /** What is used now and, where it was chosen, why: name of the codec and the link's rate in bytes per second. */
  get current(): { readonly codec: string; readonly linkRate?: number } {
    const codec = this.#policy.names[this.#current - 1] ?? 'none';
    const { linkRate } = this.#chooser;
    return this.automatic && Number.isFinite(linkRate) ? { codec, linkRate } : { codec };
  }
}
