import { toWireBoundError, WireBoundError } from '../errors.js';
import { escapeForTerminal } from '../escape.js';
import { type FrameHeader, type FrameType, PAYLOAD_LIMITS } from '../framing/frame.js';
import { type Frame, FrameDecoder } from '../framing/frame-decoder.js';
import { parseError } from '../framing/messages.js';
import { createDeferred, type Deferred } from './deferred.js';
import { namingServer } from './server-trouble.js';

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

/** What a server's bytes may mean beside the answer that is waited for. */
export interface IncomingObserver {
  /** The server wants a report. */
  keepalive(): void;
  /** The server has said why it closes. */
  refused(error: WireBoundError): void;
  /** What came may not come, or not now. Returns whether reading goes on. */
  broken(error: WireBoundError): boolean;
}

/** What is waited for from the server. */
type Awaited = 'manifest' | 'digests' | 'chunks' | 'nothing';

const AWAITED: Readonly<Record<Awaited, readonly FrameType[]>> = {
  manifest: ['manifest', 'error'],
  digests: ['digests', 'error', 'keepalive'],
  chunks: ['chunk', 'end', 'error', 'keepalive'],
  nothing: ['error', 'keepalive'],
};

/** Bytes per read of what is dropped. */
const DROPPED_READ = 64 * 1024;

/** What one link takes in: one answer at a time, and the chunks in front of it. */
export class Incoming {
  /** Bytes that came, dropped ones included. */
  bytes = 0;
  readonly #server: string;
  readonly #observer: IncomingObserver;
  readonly #decoder: FrameDecoder;
  #awaited: Awaited = 'manifest';
  #answer: Deferred<Frame> = createDeferred();
  #receiver: ChunkReceiver | undefined;
  #paused = false;
  /** Why nothing more is taken in, although the connection is still there. */
  #dropping: WireBoundError | undefined;
  #heardAt = performance.now();

  /** `server` is its name in errors. */
  constructor(server: string, observer: IncomingObserver) {
    this.#server = server;
    this.#observer = observer;
    this.#decoder = new FrameDecoder({
      limit: (type) => this.#limit(type),
      place: (header) => (header.type === 'chunk' ? this.#receiver?.place(header) : undefined),
      receive: (frame) => this.#receive(frame),
    });
  }

  /** Where the next socket read goes: never into memory of a pipeline that has failed. */
  get target(): Uint8Array {
    return this.#dropping === undefined ? this.#decoder.target : new Uint8Array(DROPPED_READ);
  }

  /** Whether it began as a WireBound server does. */
  get greeted(): boolean {
    return this.#decoder.greeted;
  }

  /** Whether the Manifest has not come yet. */
  get early(): boolean {
    return this.#awaited === 'manifest';
  }

  /** How long nothing has come although it was read, milliseconds. */
  get silentMs(): number {
    return this.#paused ? 0 : performance.now() - this.#heardAt;
  }

  /** Takes what a socket read has put into the target; false stops reading. */
  read(count: number): boolean {
    this.bytes += count;
    this.#heardAt = performance.now();
    if (this.#dropping !== undefined) return true;
    try {
      this.#decoder.accept(count);
      this.#paused = this.#receiver?.full ?? false;
    } catch (error) {
      return this.#observer.broken(namingServer(toWireBoundError(error), this.#server));
    }
    return !this.#paused;
  }

  /** Whether reading had stopped because the receiver was full; it goes on now. */
  resume(): boolean {
    if (!this.#paused) return false;
    this.#paused = false;
    this.#heardAt = performance.now();
    return true;
  }

  /** Waits for the frame that answers what has just been asked; chunks in front of it go to `receiver`. */
  answer(awaited: Exclude<Awaited, 'nothing'>, receiver?: ChunkReceiver): Promise<Frame> {
    this.#awaited = awaited;
    this.#receiver = receiver ?? this.#receiver;
    this.#answer = createDeferred();
    if (this.#dropping !== undefined) this.#answer.reject(this.#dropping);
    return this.#answer.promise;
  }

  /** From now on whatever comes is dropped; later waits are told `reason`. */
  drop(reason: WireBoundError): void {
    this.#dropping ??= reason;
  }

  /** Whoever waits for an answer is told `reason`. */
  reject(reason: unknown): void {
    this.#answer.reject(reason);
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
      this.#observer.refused(new WireBoundError(code, `${this.#server} says: ${escapeForTerminal(message)}`));
    } else if (type === 'keepalive') {
      this.#observer.keepalive();
    } else {
      this.#awaited = 'nothing';
      this.#answer.resolve(frame);
    }
  }
}
