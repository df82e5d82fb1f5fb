import { toWireBoundError, WireBoundError } from '../errors.js';
import { encodeFrame, encodePreamble } from '../framing/encode-frame.js';
import { type FrameType, PAYLOAD_LIMITS } from '../framing/frame.js';
import { type Frame, FrameDecoder } from '../framing/frame-decoder.js';
import {
  type Hello,
  parseAsk,
  parseClientKeepalive,
  parseError,
  parseGet,
  parseHello,
  parseVerdict,
  type Verdict,
} from '../framing/messages.js';
import type { Connection } from '../transport/connection.js';
import { AdmittedClient } from './admitted-client.js';
import { CodecChoice, type CodecPolicy } from './codec-choice.js';
import type { Crowd } from './crowd.js';
import type { Offer } from './offer.js';
import { Outgoing } from './outgoing.js';
import type { RateLimit } from './rate-limit.js';
import { refusal } from './refuse.js';
import type { Run } from './run-ledger.js';
import type { Sent } from './send-chunks.js';
import type { CodecInUse } from './serve-event.js';
import type { ServeLimits } from './serve-limits.js';
import { StallWatch } from './stall-watch.js';

/** What a session needs from the server around it. */
export interface SessionHost {
  readonly limits: ServeLimits;
  readonly rate: RateLimit;
  readonly codecs: CodecPolicy;
  readonly crowd: Crowd;
  /** Lets a run in, or throws BUSY, DRAINING or what is wrong with the source. */
  admit(hello: Hello, session: Session): Promise<{ readonly run: Run; readonly offer: Offer }>;
  /** Chunks have left for a run. */
  sent(run: Run, sent: Sent, using: CodecInUse): void;
  /** A client has said how its run ended. */
  concluded(run: Run, verdict: Verdict): void;
  /** The connection is over; `error` says why if no verdict came. */
  ended(session: Session, error: WireBoundError): void;
}

/** How long a failing session waits for the write under way, so that its Error frame is whole, milliseconds. */
const LAST_WRITE_MS = 2_000;

/** Questions without an answer that has left; clients ask one at a time. */
const MAX_UNANSWERED = 16;

type State = 'hello' | 'admitting' | 'idle' | 'sending' | 'ended' | 'closed';

/** What a client may say when. */
const ALLOWED: Readonly<Record<State, readonly FrameType[]>> = {
  hello: ['hello'],
  admitting: [],
  idle: ['ask', 'get', 'verdict', 'error', 'keepalive'],
  sending: ['verdict', 'error', 'keepalive'],
  ended: ['verdict', 'error', 'keepalive'],
  closed: [],
};

/**
 * One connection of one client, from the first byte to the last: Hello, Manifest, then questions, chunks and a
 * verdict. Whatever goes wrong ends this connection only.
 */
export class Session {
  readonly connection: Connection;
  readonly #host: SessionHost;
  readonly #decoder: FrameDecoder;
  readonly #watch: StallWatch;
  readonly #outgoing: Outgoing;
  readonly #stop = new AbortController();
  #state: State = 'hello';
  #client: AdmittedClient | undefined;
  #unanswered = 0;
  #peerEnded = false;
  #failure: WireBoundError | undefined;

  constructor(connection: Connection, host: SessionHost) {
    this.connection = connection;
    this.#host = host;
    this.#decoder = new FrameDecoder({
      limit: (type) =>
        ALLOWED[this.#state].includes(type) && type !== 'chunk' ? PAYLOAD_LIMITS[type] : undefined,
      receive: (frame) => this.#receive(frame),
    });
    // What a client says it has received counts only as far as it has been sent.
    const position = () =>
      Math.min(this.#client?.received ?? connection.bytesSent, connection.bytesHandedOver);
    this.#watch = new StallWatch(host.limits, position, (error) => this.#abandon(error));
    const frontier = () => this.#admitted.offer.chain.frontier;
    this.#outgoing = new Outgoing(connection, this.#watch, host.limits.keepaliveMs, frontier);
    connection.gone.addEventListener('abort', () => this.#gone(), { once: true });
  }

  /** The run this connection belongs to, once it has been admitted. */
  get run(): Run | undefined {
    return this.#client?.run;
  }

  /** Whether nothing will be sent or handled any more. */
  get closed(): boolean {
    return this.#state === 'closed';
  }

  /** Resolves when the connection is gone. */
  get over(): Promise<void> {
    const { gone } = this.connection;
    return new Promise((resolve) => {
      if (gone.aborted) resolve();
      else gone.addEventListener('abort', () => resolve(), { once: true });
    });
  }

  /**
   * The client has ended its side: it will say nothing more. One that has asked for chunks still gets them; otherwise
   * there is nothing left to do.
   */
  peerEnded(): void {
    this.#peerEnded = true;
    if (this.#state !== 'sending' && this.#state !== 'closed') void this.connection.finish();
  }

  /** Takes bytes from the socket. */
  feed(bytes: Uint8Array): void {
    this.#watch.heard();
    try {
      for (let at = 0; at < bytes.length && this.#state !== 'closed'; ) {
        const piece = bytes.subarray(at, at + this.#decoder.target.length);
        this.#decoder.target.set(piece);
        this.#decoder.accept(piece.length);
        at += piece.length;
      }
    } catch (error) {
      void this.fail(toWireBoundError(error), bytes);
    }
  }

  /** Ends the session with an Error frame, or with words for a client that does not speak the protocol. */
  async fail(error: WireBoundError, firstBytes: Uint8Array = new Uint8Array(0)): Promise<void> {
    if (this.#state === 'closed') return;
    this.#close(error);
    if (!(await this.#outgoing.settles(LAST_WRITE_MS))) {
      this.connection.destroy();
      return;
    }
    const command = `wirebound get ${this.connection.here}`;
    await this.connection.finish(
      refusal(error, { firstBytes, greeted: this.#client !== undefined, command }),
    );
  }

  #receive({ header, content }: Frame): void {
    if (header.entry !== 0) throw new WireBoundError('PROTOCOL', `there is no entry ${header.entry}`);
    if (header.type === 'hello') this.#start(this.#admit(parseHello(content)));
    else if (header.type === 'ask') this.#ask(parseAsk(content, this.#admitted.offer.geometry.count));
    else if (header.type === 'get') this.#start(this.#send(content));
    else if (header.type === 'verdict') this.#conclude(parseVerdict(content));
    else if (header.type === 'keepalive') this.#client?.report(parseClientKeepalive(content));
    else this.#abandon(peerFailure(content));
  }

  get #admitted(): AdmittedClient {
    if (this.#client === undefined) throw new WireBoundError('PROTOCOL', 'hello must come first');
    return this.#client;
  }

  #start(work: Promise<void>): void {
    this.#outgoing.start(work, (error) => void this.fail(toWireBoundError(error, 'SOURCE_UNREADABLE')));
  }

  async #admit(hello: Hello): Promise<void> {
    this.#state = 'admitting';
    this.#watch.greeted();
    const { run, offer } = await this.#host.admit(hello, this);
    const record = () => this.connection.tcpRecord;
    const { codecs, crowd } = this.#host;
    const choice = new CodecChoice(codecs, hello.codecs, offer.payloads, record, crowd);
    this.#client = new AdmittedClient(run, offer, choice);
    offer.retired.addEventListener('abort', this.#onRetired);
    if (offer.retired.aborted) this.#onRetired();
    this.#state = 'idle';
    await this.#outgoing.put([encodePreamble(), encodeFrame('manifest', this.#client.manifest())]);
  }

  /** A client asks again when it has its answer; one that does not read answers must not fill the memory with them. */
  #ask(indexes: readonly number[]): void {
    if (++this.#unanswered > MAX_UNANSWERED) {
      throw new WireBoundError('PROTOCOL', `more than ${MAX_UNANSWERED} questions at a time`);
    }
    const answer = this.#outgoing.put([encodeFrame('digests', this.#admitted.digests(indexes))]);
    this.#start(
      answer.finally(() => {
        this.#unanswered--;
      }),
    );
  }

  async #send(content: Uint8Array): Promise<void> {
    const client = this.#admitted;
    const { count } = client.offer.geometry;
    const get = parseGet(content, count);
    this.#state = 'sending';
    const end = await client.deliver(get, {
      rate: this.#host.rate,
      connection: this.connection,
      signal: this.#stop.signal,
      put: (parts) => this.#outgoing.put(parts),
      whileQuiet: (wait) => this.#outgoing.whileQuiet(wait),
      sent: (sent) => this.#host.sent(client.run, sent, client.choice.current),
    });
    // Before End has left: a fast client's answer may be here before the write is known to be done.
    this.#state = get.first + get.count === count ? 'ended' : 'idle';
    await this.#outgoing.put([end]);
    if (this.#peerEnded) await this.connection.finish();
  }

  #conclude(verdict: Verdict): void {
    if (verdict.verified && this.#state !== 'ended') {
      throw new WireBoundError('PROTOCOL', 'a verdict came before End');
    }
    if (this.run !== undefined) this.#host.concluded(this.run, verdict);
    this.#close(new WireBoundError('CONNECTION_LOST', 'the client has ended its run'));
    void this.connection.finish();
  }

  readonly #onRetired = (): void => {
    void this.fail(toWireBoundError(this.#client?.offer.retired.reason));
  };

  /** Ends the session without a word: the client cannot or will not hear one. */
  #abandon(error: WireBoundError): void {
    this.#close(error);
    this.connection.destroy();
  }

  #gone(): void {
    this.#close(toWireBoundError(this.connection.gone.reason));
    this.#client?.leave();
    this.#client?.offer.retired.removeEventListener('abort', this.#onRetired);
    this.#host.ended(this, this.#failure as WireBoundError);
  }

  #close(error: WireBoundError): void {
    this.#state = 'closed';
    this.#failure ??= error;
    this.#stop.abort(this.#failure);
    this.#watch.stop();
    this.#outgoing.stop();
  }
}

/** What a client's Error frame says, as the reason why its connection ended. */
function peerFailure(content: Uint8Array): WireBoundError {
  const { code, message } = parseError(content);
  return new WireBoundError(code, message);
}
