import { randomBytes } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { encodeFrame } from '#dist/core/framing/encode-frame.js';
import { CHUNK_FIELDS_LENGTH, type FrameType } from '#dist/core/framing/frame.js';
import { type Frame, FrameDecoder } from '#dist/core/framing/frame-decoder.js';
import { type Manifest, parseManifest } from '#dist/core/framing/manifest.js';
import { encodeGet, encodeVerdict, type GetReason, type Verdict } from '#dist/core/framing/messages.js';
import { feedDecoder } from './feed-decoder.js';
import { helloBytes } from './scripted-peer.js';

/** A client at byte level: it says what it is told to, when it is told to, and reads only when asked. */
export class RawClient {
  readonly socket: Socket;
  /** The run id that {@link hello} sends; another client may take it over. */
  readonly run: string;
  /** Every frame so far, in order. */
  readonly frames: Frame[] = [];
  /** Resolves when the connection is gone, however it ended. */
  readonly gone: Promise<void>;
  readonly #decoder: FrameDecoder;
  readonly #changed = new EventEmitter().setMaxListeners(0);
  readonly #received: Buffer[] = [];
  #taken = 0;
  #over = false;

  private constructor(socket: Socket, run: string) {
    this.socket = socket;
    this.run = run;
    this.#decoder = new FrameDecoder({
      limit: () => 16 * 1024 * 1024,
      receive: (frame) => this.frames.push({ ...frame, content: frame.content.slice() }),
    });
    socket.on('data', (bytes: Buffer) => this.#feed(bytes));
    socket.on('end', () => socket.end());
    socket.on('error', () => undefined);
    this.gone = new Promise((resolve) => {
      socket.once('close', () => {
        this.#over = true;
        this.#changed.emit('change');
        resolve();
      });
    });
  }

  /** Connects and says nothing. */
  static async connect(port: number, run = randomBytes(16).toString('hex')): Promise<RawClient> {
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true, noDelay: true });
    await once(socket, 'connect');
    return new RawClient(socket, run);
  }

  /** Connects, says hello and waits for the manifest. */
  static async greet(port: number, options: { codecs?: readonly string[]; run?: string } = {}) {
    const client = await RawClient.connect(port, options.run);
    client.hello(options.codecs);
    const { content } = await client.next('manifest');
    const manifest: Manifest = parseManifest(content, options.codecs ?? []);
    return { client, manifest };
  }

  /** All the bytes that came so far. */
  get received(): Buffer {
    return Buffer.concat(this.#received);
  }

  hello(codecs: readonly string[] = []): void {
    this.socket.write(helloBytes(this.run, codecs));
  }

  get(first: number, count: number, reason: GetReason = 'first'): void {
    this.socket.write(encodeFrame('get', encodeGet({ first, count, reason })));
  }

  verdict(verdict: Verdict): void {
    this.socket.write(encodeFrame('verdict', encodeVerdict(verdict)));
  }

  /** The next frame of that type that has not been handed out, skipping others; rejects when none can come. */
  async next(type: FrameType): Promise<Frame> {
    for (;;) {
      while (this.#taken < this.frames.length) {
        const frame = this.frames[this.#taken++] as Frame;
        if (frame.header.type === type) return frame;
      }
      if (this.#over) throw new Error(`the connection ended before a frame of type ${type}`);
      await once(this.#changed, 'change');
    }
  }

  /** Takes no more bytes; what is under way fills the kernel's buffers and then stays with the server. */
  stopReading(): void {
    this.socket.pause();
  }

  readOn(): void {
    this.socket.resume();
  }

  /** Ends with a reset rather than in order. */
  reset(): void {
    this.socket.resetAndDestroy();
  }

  #feed(bytes: Buffer): void {
    this.#received.push(bytes);
    try {
      feedDecoder(this.#decoder, bytes);
    } catch {
      // Not frames, then: `received` has the bytes.
    }
    this.#changed.emit('change');
  }
}

/** The payload of a Chunk frame, and its index. */
export function chunkOf({ content }: Frame): { readonly index: number; readonly payload: Uint8Array } {
  const index = new DataView(content.buffer, content.byteOffset).getUint32(0);
  return { index, payload: content.subarray(CHUNK_FIELDS_LENGTH) };
}
