import type { Socket } from 'node:net';
import { toWireBoundError, WireBoundError } from '../errors.js';
import { escapeForTerminal } from '../escape.js';
import { encodeFrame, encodePreamble } from '../framing/encode-frame.js';
import { type FrameHeader, type FrameType, PAYLOAD_LIMITS } from '../framing/frame.js';
import { type Frame, FrameDecoder } from '../framing/frame-decoder.js';
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
  parseError,
  type ServerWaits,
  type Verdict,
} from '../framing/messages.js';
import { Connection } from '../transport/connection.js';
import { formatTarget, openSocket, type Target } from './connect.js';
import { createDeferred, type Deferred } from './deferred.js';
import type { GetLimits } from './get-limits.js';
import { ReportSender } from './report-sender.js';
import { namingServer, noData, noManifest } from './server-trouble.js';
import type { StageTimes } from './stage-times.js';

/** Takes the chunks of one Get. */
export interface ChunkReceiver {
  /** The longest payload the next chunk may have, bytes. */
  readonly payloadLimit: number;
  /** Checks a chunk's header and gives memory for its content and the next header. */
  place(header: FrameHeader): Uint8Array;
  /** A chunk has arrived whole, in the memory that was given. */
  receive(frame: Frame): void;
  /** Checks that everything has come. */
  end(): void;
  /** Whether reading must stop until `resume` is called. */
  readonly full: boolean;
}

/** What a link waits for from the server. */
type Awaited = 'manifest' | 'digests' | 'chunks' | 'nothing';

const AWAITED: Readonly<Record<Awaited, readonly FrameType[]>> = {
  manifest: ['manifest', 'error'],
  digests: ['digests', 'error', 'keepalive'],
  chunks: ['chunk', 'end', 'error', 'keepalive'],
  nothing: ['error', 'keepalive'],
};

/** How long a server may take to close after a verdict, milliseconds. */
const VERDICT_MS = 5_000;
const FAILED_VERDICT_MS = 1_000;
/** Bytes per read of what is dropped. */
const DROPPED_READ = 64 * 1024;

/** One connection of a client to a server, from Hello to Verdict; one request at a time. */
export class Link {
  readonly #peer: string;
  readonly #limits: GetLimits;
  readonly #decoder: FrameDecoder;
  readonly #timers: NodeJS.Timeout[] = [];
  #socket!: Socket;
  #connection!: Connection;
  #awaited: Awaited = 'manifest';
  #answer: Deferred<Frame> = createDeferred();
  #receiver: ChunkReceiver | undefined;
  #paused = false;
  /** Why nothing more is taken in, although the connection is still there. */
  #stopped: WireBoundError | undefined;
  #admitted = false;
  #heardAt = performance.now();
  #bytesReceived = 0;
  readonly #reports: ReportSender;

  private constructor(target: Target, limits: GetLimits) {
    this.#peer = formatTarget(target);
    this.#limits = limits;
    this.#reports = new ReportSender(
      (frame) => this.#connection.send([frame]),
      () => this.#bytesReceived,
    );
    this.#decoder = new FrameDecoder({
      limit: (type) => this.#limit(type),
      place: (header) => (header.type === 'chunk' ? this.#receiver?.place(header) : undefined),
      receive: (frame) => this.#receive(frame),
    });
  }

  /** Connects and says hello. Throws what connecting throws; `signal` cuts the link at any time. */
  static async open(target: Target, hello: Hello, limits: GetLimits, signal: AbortSignal): Promise<Link> {
    const link = new Link(target, limits);
    link.#socket = await openSocket(target, {
      timeoutMs: limits.connectTimeoutMs,
      signal,
      onread: { buffer: () => link.#target as Buffer, callback: (count) => link.#read(count) },
    });
    link.#connection = new Connection(link.#socket);
    link.#watch(signal);
    link.#send(Buffer.concat([encodePreamble(), encodeFrame('hello', encodeHello(hello))]));
    return link;
  }

  /** Bytes that came over this connection. */
  get bytesReceived(): number {
    return this.#bytesReceived;
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
    const overdue = () => this.fail(noManifest(this.#peer, this.#decoder.greeted, helloTimeoutMs));
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
    this.#receiver = receiver;
    this.#send(encodeFrame('get', encodeGet(get)));
    const { content } = await this.#await('chunks');
    receiver.end();
    return parseEnd(content);
  }

  /** Goes on reading after the receiver was full. */
  resume(): void {
    if (!this.#paused) return;
    this.#paused = false;
    this.#heardAt = performance.now();
    this.#socket.resume();
  }

  /**
   * Tells how the run ended and waits until the server has closed, after a failure for a moment only; true if it
   * took the verdict. A server that has not let the run in is told nothing.
   */
  async conclude(verdict: Verdict): Promise<boolean> {
    if (!this.#admitted || this.gone.aborted) return false;
    this.#stopped ??= new WireBoundError('CONNECTION_LOST', 'the run is over');
    const frame = encodeFrame('verdict', encodeVerdict(verdict));
    await this.#connection.finish(frame, verdict.verified ? VERDICT_MS : FAILED_VERDICT_MS);
    return (this.gone.reason as Error).cause === undefined;
  }

  /**
   * Ends what is under way: whoever waits for an answer is told `error`, and whatever still comes is dropped. The
   * connection stays, so that the server can be told why.
   */
  stop(error: WireBoundError): void {
    if (this.#admitted) this.#stopped ??= error;
    else this.fail(error);
    this.#answer.reject(error);
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
      this.#answer.reject(this.gone.reason);
    };
    if (this.gone.aborted) end();
    else this.gone.addEventListener('abort', end, { once: true });
  }

  #await(awaited: Awaited): Promise<Frame> {
    this.#awaited = awaited;
    this.#answer = createDeferred();
    const over = this.#stopped ?? this.gone.reason;
    if (over !== undefined) this.#answer.reject(over);
    return this.#answer.promise;
  }

  /** Where the next socket read goes: never into memory of a pipeline that has failed. */
  get #target(): Uint8Array {
    return this.#stopped === undefined ? this.#decoder.target : new Uint8Array(DROPPED_READ);
  }

  /** Takes what a socket read has put into the target; false stops reading. */
  #read(count: number): boolean {
    this.#bytesReceived += count;
    this.#heardAt = performance.now();
    if (this.#stopped !== undefined) return true;
    try {
      this.#decoder.accept(count);
      this.#paused = this.#receiver?.full ?? false;
    } catch (error) {
      this.stop(namingServer(toWireBoundError(error), this.#peer));
      return !this.gone.aborted;
    }
    return !this.#paused;
  }

  #limit(type: FrameType): number | undefined {
    if (!AWAITED[this.#awaited].includes(type)) return undefined;
    return type === 'chunk' ? this.#receiver?.payloadLimit : PAYLOAD_LIMITS[type];
  }

  #receive(frame: Frame): void {
    const { type } = frame.header;
    if (type === 'chunk') this.#receiver?.receive(frame);
    else if (type === 'error') {
      const { code, message } = parseError(frame.content);
      // It closes now, and wants to hear nothing more.
      this.fail(new WireBoundError(code, `${this.#peer} says: ${escapeForTerminal(message)}`));
    } else if (type === 'keepalive') {
      this.#sendKeepalive();
    } else {
      this.#awaited = 'nothing';
      this.#answer.resolve(frame);
    }
  }

  #checkIdle(): void {
    const { idleTimeoutMs } = this.#limits;
    if (this.#paused || performance.now() - this.#heardAt < idleTimeoutMs) return;
    this.fail(noData(this.#peer, idleTimeoutMs));
  }

  #sendKeepalive(): void {
    if (this.#awaited !== 'manifest' && !this.gone.aborted) this.#reports.send();
  }

  /** What a client says is small; whether it arrives shows in the answer. */
  #send(bytes: Uint8Array): void {
    this.#connection.send([bytes]).catch(() => undefined);
  }
}
