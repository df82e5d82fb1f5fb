import type { Verdict } from '../framing/messages.js';
import type { CodecPolicy } from './codec-choice.js';
import { listenAddresses } from './listen-addresses.js';
import type { Listener } from './open-listener.js';
import type { Run } from './run-ledger.js';
import type { Sent } from './send-chunks.js';
import type { CodecInUse, ServeEvent, ServeSummary } from './serve-event.js';
import { Statistics } from './statistics.js';

/** What a {@link ServeRecord} is about, and whom it tells. */
export interface ServeRecordOptions {
  /** How the payloads are encoded. */
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
  readonly onEvent: (event: ServeEvent) => void;
}

/** How often the progress of clients is told, and refused strangers are warned of, milliseconds. */
const PROGRESS_MS = 500;

/** What a server and its runs do, as it is told to the outside: an event for each change, a summary at the end. */
export class ServeRecord {
  readonly statistics = new Statistics();
  /** Of the content that is served now, bytes. */
  size: number;
  /** Digest of what is served now, once it is known. */
  sha256: string | undefined;
  readonly #options: ServeRecordOptions;
  readonly #told = new Map<Run, number>();
  readonly #using = new WeakMap<Run, CodecInUse>();
  #progress: NodeJS.Timeout | undefined;
  #warnedAt = Number.NEGATIVE_INFINITY;

  constructor(options: ServeRecordOptions) {
    this.#options = options;
    this.size = options.described.size;
  }

  /** The port is open. From now on the progress of the runs that `open` lists is told. */
  listening({ port, host }: Listener, open: () => readonly Run[]): void {
    const { described, onEvent } = this.#options;
    this.#progress = setInterval(() => this.#tellProgress(open()), PROGRESS_MS);
    onEvent({
      event: 'listening',
      ...described,
      chunks: Math.ceil(described.size / described.chunkSize),
      codec: this.#codec,
      port,
      addresses: listenAddresses(host),
    });
  }

  /** A run that was not here before. */
  connected({ number: client, address }: Run, agent: string): void {
    this.#options.onEvent({ event: 'client.connected', client, address, agent });
  }

  /** Chunks have left for a run. */
  sent(run: Run, sent: Sent, using: CodecInUse): void {
    this.statistics.sent(sent);
    this.#using.set(run, using);
    run.bytes = sent.position;
  }

  /** A run is over. */
  finished(run: Run, verdict: Verdict): void {
    const seconds = (performance.now() - run.startedAtMs) / 1000;
    this.statistics.concluded(verdict, seconds);
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
  }

  /** No new runs are taken; these are awaited. */
  draining(open: readonly Run[]): void {
    const { activeSeconds, bytesSent } = this.statistics;
    const left = Math.max(0, ...open.map((run) => this.size - run.bytes));
    const etaSeconds = (left * open.length) / (bytesSent / activeSeconds);
    this.#options.onEvent({
      event: 'draining',
      transfers: open.length,
      ...(Number.isFinite(etaSeconds) ? { etaSeconds } : {}),
    });
  }

  /** Strangers at the port may come in floods: one line for them now and then is enough. */
  warn(message: string): void {
    const now = performance.now();
    if (now - this.#warnedAt < PROGRESS_MS) return;
    this.#warnedAt = now;
    this.#options.onEvent({ event: 'warning', message });
  }

  /** Nothing moves any more. */
  stop(): void {
    clearInterval(this.#progress);
  }

  /** The end: tells the summary, and returns it. */
  summarize(runs: Pick<ServeSummary, 'verified' | 'failed'>): ServeSummary {
    const { statistics, size, sha256 } = this;
    const { name, chunkSize } = this.#options.described;
    const { limitedBy } = statistics;
    const summary: ServeSummary = {
      ...runs,
      connections: statistics.connections,
      name,
      size,
      chunkSize,
      codec: this.#codec,
      ...(sha256 === undefined ? {} : { sha256 }),
      bytesSent: statistics.bytesSent,
      payloadBytes: statistics.payloadBytes,
      bytesOnWire: statistics.bytesOnWire,
      chunksEncoded: statistics.chunksEncoded,
      chunksRaw: statistics.chunksRaw,
      bytesFromStorage: statistics.bytesFromStorage,
      bytesFromSource: this.#options.bytesFetched?.() ?? 0,
      seconds: statistics.seconds,
      activeSeconds: statistics.activeSeconds,
      ...(limitedBy === undefined ? {} : { limitedBy }),
      peakMemory: statistics.peakMemory,
    };
    this.#options.onEvent({ event: 'summary', ...summary });
    return summary;
  }

  /** What `--codec` was given, in effect. */
  get #codec(): string {
    const { names, automatic } = this.#options.codecs;
    return automatic ? 'auto' : (names[0] ?? 'none');
  }

  #tellProgress(open: readonly Run[]): void {
    const { size } = this;
    for (const run of open) {
      if (this.#told.get(run) === run.bytes) continue;
      this.#told.set(run, run.bytes);
      const { number: client, address, bytes } = run;
      const using = this.#using.get(run) ?? { codec: 'none' };
      this.#options.onEvent({ event: 'client.progress', client, address, bytes, size, ...using });
    }
  }
}
