import type { ClientKeepalive } from '../framing/messages.js';
import type { TcpRecord } from '../transport/tcp-record.js';
import { CodecChooser } from './codec-chooser.js';
import { Crowd } from './crowd.js';
import type { PayloadStore } from './payload-store.js';
import type { CodecInUse } from './serve-event.js';

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
const LONGEST_REPORT_MS = 250;
/**
 * While the link's rate is not known, raw chunks are measurements: what follows a batch of them waits for the report
 * on it, since otherwise all that fits into the buffers would go raw. The first two batches are small, for a slow link that
 * may let the first one through as a burst; where they took no time, larger ones tell more.
 */
const SMALL_BATCH = 256 * KIB;
const LARGE_BATCH = MIB;
const SMALL_BATCHES = 2 * SMALL_BATCH;
/**
 * After so many bytes that told nothing the link is taken to be faster than the client. One more batch is looked at after
 * a while, and then after twice as long each time: processors that were scarce at the start may hide a slow link.
 */
const MEASURED_BYTES = 6 * MIB;
const LOOK_AGAIN_MS = 100;
const LOOK_AGAIN_AT_LEAST_EVERY_MS = 10_000;

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
  readonly #record: () => TcpRecord | undefined;
  readonly #crowd: Crowd;
  #current = 0;
  /** It was chosen for the crowd. */
  #crowded = false;
  readonly #openedAt = performance.now();
  #askedAt = this.#openedAt;
  #askedBytes = 0;
  /** The bytes of the connection that are measured; reports on its beginning and its end make a measurement. */
  #measured: readonly [number, number] = [0, Number.POSITIVE_INFINITY];
  /** What the last report was on. */
  #received = 0;
  /** Bytes that have gone raw since the link's rate is not known; when enough of them told nothing, when to look again. */
  #unmeasured = 0;
  #pauseMs = LOOK_AGAIN_MS;
  #lookAt = 0;

  /** `record` is what the kernel says about the connection; `crowd`: the clients of the same server. */
  constructor(
    policy: CodecPolicy,
    decodable: readonly string[],
    payloads: PayloadStore,
    record: () => TcpRecord | undefined = () => undefined,
    crowd = new Crowd(),
  ) {
    this.names = policy.names.filter((name) => decodable.includes(name));
    this.#policy = policy;
    this.#crowd = crowd;
    this.#record = record;
    this.#numbers = this.names.map((name) => 1 + policy.names.indexOf(name));
    this.#chooser = new CodecChooser(this.#numbers, (index, codec) => payloads.forecast(index, codec));
  }

  /** Whether the client's reports decide. */
  get automatic(): boolean {
    return this.#policy.automatic && this.#numbers.length > 0;
  }

  /** Whether the next batch is a measurement: reports are wanted before and after it, and what follows waits. */
  get measuring(): boolean {
    if (!this.automatic || Number.isFinite(this.#chooser.linkRate) || this.#crowd.starved) return false;
    return this.#unmeasured < MEASURED_BYTES || performance.now() >= this.#lookAt;
  }

  /** How many bytes of the file may be on their way to the socket at a time. */
  get reach(): number {
    if (!this.measuring) return Number.POSITIVE_INFINITY;
    return this.#unmeasured < SMALL_BATCHES ? SMALL_BATCH : LARGE_BATCH;
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
    const [from, to] = this.#measured;
    const over = report.received >= to;
    // A client that cannot keep up makes one report of two.
    const measurement = over && this.#received >= from;
    if (over) this.#measured = [0, Number.POSITIVE_INFINITY];
    this.#received = report.received;
    this.#look();
    this.#chooser.report(report, serverWaited, measurement);
  }

  /** Chunks have been sent, so many bytes of them raw. */
  sent(rawBytes: number): void {
    if (this.automatic) this.#crowd.join(this);
    this.#unmeasured += rawBytes;
    this.#look();
  }

  /** What is about to be sent between two places in the connection, raw chunks, is a measurement. */
  measures(from: number, to: number): void {
    const record = this.#record();
    if (record !== undefined) this.#chooser.lookAgain(record);
    this.#measured = [from, to];
    if (this.#unmeasured + to - from < MEASURED_BYTES) return;
    this.#lookAt = performance.now() + this.#pauseMs;
    this.#pauseMs = Math.min(LOOK_AGAIN_AT_LEAST_EVERY_MS, 2 * this.#pauseMs);
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

  /** Nothing more is sent for now. */
  leave(): void {
    this.#crowd.leave(this);
  }

  #look(): void {
    const record = this.automatic ? this.#record() : undefined;
    if (record !== undefined) this.#chooser.look(record, !this.encodes);
  }

  #chosen(index: number, rawLength: number): number {
    const known = Number.isFinite(this.#chooser.linkRate);
    const codec = this.#chooser.choose(index, rawLength);
    if (known && !Number.isFinite(this.#chooser.linkRate)) {
      this.#unmeasured = 0;
      this.#pauseMs = LOOK_AGAIN_MS;
    }
    const forCrowd = codec === 0 && this.#crowd.starved ? this.#chooser.leastWork(index, rawLength) : 0;
    this.#crowded = forCrowd !== 0;
    return codec || forCrowd;
  }

  /** What is used now and, where it was chosen, why. */
  get current(): CodecInUse {
    const codec = this.#policy.names[this.#current - 1] ?? 'none';
    const { linkRate } = this.#chooser;
    return {
      codec,
      ...(this.automatic && Number.isFinite(linkRate) ? { linkRate } : {}),
      ...(this.#crowded ? { crowded: true } : {}),
    };
  }
}
