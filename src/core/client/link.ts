import type { Socket } from 'node:net';
import { toWireBoundError, WireBoundError } from '../errors.js';
import { encodeFrame, encodePreamble } from '../framing/encode-frame.js';
import type { Frame } from '../framing/frame-decoder.js';
import { type Manifest, parseManifest } from '../framing/manifest.js';
import {
  type Digests,
  encodeAsk,
  encodeGet,
  encodeHello,
  encodeVerdict,
  type Get,
  type Hello,
  parseDigests,
  parseEnd,
  type ServerWaits,
  type Verdict,
} from '../framing/messages.js';
import { Connection } from '../transport/connection.js';
import { formatTarget, openSocket, type Target } from './connect.js';
import type { GetLimits } from './get-limits.js';
import { type ChunkReceiver, Incoming } from './incoming.js';
import { ReportSender } from './report-sender.js';
import { noData, noManifest } from './server-trouble.js';
import type { StageTimes } from './stage-times.js';

/** How long a server may take to close after a verdict, milliseconds. */
const VERDICT_MS = 5_000;
const FAILED_VERDICT_MS = 1_000;

/** One connection of a client to a server, from Hello to Verdict; one request at a time. */
export class Link {
  readonly #peer: string;
  readonly #limits: GetLimits;
  readonly #incoming: Incoming;
  readonly #reports: ReportSender;
  readonly #timers: NodeJS.Timeout[] = [];
  #socket!: Socket;
  #connection!: Connection;
  #admitted = false;

  private constructor(target: Target, limits: GetLimits) {
    this.#peer = formatTarget(target);
    this.#limits = limits;
    this.#reports = new ReportSender(
      (frame) => this.#connection.send([frame]),
      () => this.#incoming.bytes,
    );
    this.#incoming = new Incoming(this.#peer, {
      keepalive: () => this.#sendKeepalive(),
      // It closes now, and wants to hear nothing more.
      refused: (error) => this.fail(error),
      broken: (error) => {
        this.stop(error);
        return !this.gone.aborted;
      },
    });
  }

  /** Connects and says hello. Throws what connecting throws; `signal` cuts the link at any time. */
  static async open(target: Target, hello: Hello, limits: GetLimits, signal: AbortSignal): Promise<Link> {
    const link = new Link(target, limits);
    const incoming = link.#incoming;
    link.#socket = await openSocket(target, {
      timeoutMs: limits.connectTimeoutMs,
      signal,
      onread: { buffer: () => incoming.target as Buffer, callback: (count) => incoming.read(count) },
    });
    link.#connection = new Connection(link.#socket);
    link.#watch(signal);
    link.#send(Buffer.concat([encodePreamble(), encodeFrame('hello', encodeHello(hello))]));
    return link;
  }

  /** Bytes that came over this connection. */
  get bytesReceived(): number {
    return this.#incoming.bytes;
  }

  /** Aborted once the connection is gone, with the reason. */
  get gone(): AbortSignal {
    return this.#connection.gone;
  }

  /** What the keepalives report on. */
  set times(times: StageTimes) {
    this.#reports.times = times;
  }

  /** Waits for the Manifest; `offered` are the codecs of the hello. */
  async manifest(offered: readonly string[]): Promise<Manifest> {
    const { helloTimeoutMs } = this.#limits;
    const overdue = () => this.fail(noManifest(this.#peer, this.#incoming.greeted, helloTimeoutMs));
    const deadline = setTimeout(overdue, helloTimeoutMs);
    try {
      const { content } = await this.#await('manifest');
      const manifest = parseManifest(content, offered);
      this.#admitted = true;
      return manifest;
    } finally {
      clearTimeout(deadline);
    }
  }

  /** Asks for the prefix digests of some chunks, 256 at most, of a file of `count` chunks. */
  async ask(indexes: readonly number[], count: number): Promise<Digests> {
    this.#send(encodeFrame('ask', encodeAsk(indexes)));
    const { content } = await this.#await('digests');
    return parseDigests(content, count);
  }

  /**
   * Asks for chunks and resolves at End, with what the server has been waiting for; the receiver has had all
   * chunks by then.
   */
  async get(get: Get, receiver: ChunkReceiver): Promise<ServerWaits> {
    this.#send(encodeFrame('get', encodeGet(get)));
    const { content } = await this.#await('chunks', receiver);
    receiver.end();
    return parseEnd(content);
  }

  /** Goes on reading after the receiver was full. */
  resume(): void {
    if (this.#incoming.resume()) this.#socket.resume();
  }

  /**
   * Tells how the run ended and waits until the server has closed, after a failure for a moment only; true if it
   * took the verdict. A server that has not let the run in is told nothing.
   */
  async conclude(verdict: Verdict): Promise<boolean> {
    if (!this.#admitted || this.gone.aborted) return false;
    this.#incoming.drop(new WireBoundError('CONNECTION_LOST', 'the run is over'));
    const frame = encodeFrame('verdict', encodeVerdict(verdict));
    await this.#connection.finish(frame, verdict.verified ? VERDICT_MS : FAILED_VERDICT_MS);
    return (this.gone.reason as Error).cause === undefined;
  }

  /**
   * Ends what is under way: whoever waits for an answer is told `error`, and whatever still comes is dropped. The
   * connection stays, so that the server can be told why.
   */
  stop(error: WireBoundError): void {
    if (this.#admitted) this.#incoming.drop(error);
    else this.fail(error);
    this.#incoming.reject(error);
  }

  /** Cuts the connection; whoever waits for an answer is told `error`. */
  fail(error: WireBoundError): void {
    this.#connection.destroy(error);
  }

  #watch(signal: AbortSignal): void {
    const abort = () => this.stop(toWireBoundError(signal.reason));
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
    this.#timers.push(setInterval(() => this.#sendKeepalive(), this.#limits.keepaliveMs));
    this.#timers.push(setInterval(() => this.#checkIdle(), Math.min(1_000, this.#limits.idleTimeoutMs)));
    const end = () => {
      for (const timer of this.#timers) clearInterval(timer);
      signal.removeEventListener('abort', abort);
      this.#incoming.reject(this.gone.reason);
    };
    if (this.gone.aborted) end();
    else this.gone.addEventListener('abort', end, { once: true });
  }

  #await(...awaited: Parameters<Incoming['answer']>): Promise<Frame> {
    const answer = this.#incoming.answer(...awaited);
    if (this.gone.aborted) this.#incoming.reject(this.gone.reason);
    return answer;
  }

  #checkIdle(): void {
    const { idleTimeoutMs } = this.#limits;
    if (this.#incoming.silentMs >= idleTimeoutMs) this.fail(noData(this.#peer, idleTimeoutMs));
  }

  #sendKeepalive(): void {
    if (!this.#incoming.early && !this.gone.aborted) this.#reports.send();
  }

  /** What a client says is small; whether it arrives shows in the answer. */
  #send(bytes: Uint8Array): void {
    this.#connection.send([bytes]).catch(() => undefined);
  }
}
