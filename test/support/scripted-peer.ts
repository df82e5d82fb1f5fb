import { createHash } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { Chain } from '#dist/core/digest/chain.js';
import { encodeChunkHeader, encodeFrame, encodePreamble } from '#dist/core/framing/encode-frame.js';
import { type FrameType, MAX_ASK } from '#dist/core/framing/frame.js';
import { type Frame, FrameDecoder } from '#dist/core/framing/frame-decoder.js';
import { Geometry } from '#dist/core/framing/geometry.js';
import { encodeManifest, type Manifest } from '#dist/core/framing/manifest.js';
import {
  encodeDigests,
  encodeEnd,
  encodeHello,
  parseAsk,
  parseGet,
  parseVerdict,
} from '#dist/core/framing/messages.js';
import { feedDecoder } from './feed-decoder.js';

/** One side of a connection that does exactly what a test says, byte by byte. */
export class ScriptedPeer {
  readonly socket: Socket;
  /** Whole frames that came in and were not taken yet. */
  readonly frames: Frame[] = [];
  /** Bytes that came in. */
  received = 0;
  /** Everything that came in, if it does not come as frames. */
  text = '';
  readonly #changed = new EventEmitter().setMaxListeners(0);
  #closed = false;

  constructor(socket: Socket) {
    this.socket = socket;
    const decoder = new FrameDecoder({ limit: () => 2 ** 25, receive: (frame) => this.frames.push(frame) });
    let readable = true;
    socket.on('error', () => {});
    socket.on('data', (bytes: Buffer) => {
      this.received += bytes.length;
      if (this.text.length < 65536) this.text += bytes.toString('latin1');
      try {
        if (readable) feedDecoder(decoder, bytes);
      } catch {
        readable = false;
      }
      this.#changed.emit('change');
    });
    socket.on('close', () => {
      this.#closed = true;
      this.#changed.emit('change');
    });
  }

  static async connect(
    port: number,
    options: { readonly allowHalfOpen?: boolean } = {},
  ): Promise<ScriptedPeer> {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true, ...options });
    const peer = new ScriptedPeer(socket);
    await once(socket, 'connect');
    return peer;
  }

  get closed(): boolean {
    return this.#closed;
  }

  /** Hands bytes to the kernel; resolves at once when the connection is gone. */
  async send(...parts: readonly Uint8Array[]): Promise<void> {
    const bytes = Buffer.concat(parts);
    await new Promise<void>((resolve) => {
      if (this.#closed || !this.socket.writable) resolve();
      else this.socket.write(bytes, () => resolve());
    });
  }

  /** The next frame of a type, others (keepalives) are dropped; undefined when the connection ends before it. */
  async frame(type: FrameType): Promise<Frame | undefined> {
    for (;;) {
      const frame = this.frames.shift();
      if (frame?.header.type === type) return frame;
      if (frame !== undefined) continue;
      if (this.#closed) return undefined;
      await once(this.#changed, 'change');
    }
  }

  /** Resolves once the other side has closed too. */
  async over(): Promise<void> {
    while (!this.#closed) await once(this.#changed, 'change');
  }

  /** Resolves once so many bytes have come in, or the connection is over. */
  async until(bytes: number): Promise<void> {
    while (this.received < bytes && !this.#closed) await once(this.#changed, 'change');
  }

  reset(): void {
    this.socket.resetAndDestroy();
  }
}

/** The frame behind the last chunk; it says that the server waited for nothing. */
export const END_FRAME: Buffer = encodeFrame(
  'end',
  encodeEnd({ sourceMs: 0, digestMs: 0, codecMs: 0, rateMs: 0, networkMs: 0 }),
);

/** What a well-behaved client says first. */
export function helloBytes(run = 'ab'.repeat(16), codecs: readonly string[] = []): Buffer {
  return Buffer.concat([
    encodePreamble(),
    encodeFrame('hello', encodeHello({ agent: 'test/1', codecs, run })),
  ]);
}

/** Served content with everything a byte-level server needs to know about it. */
export class ScriptedContent {
  readonly bytes: Buffer;
  readonly geometry: Geometry;
  readonly chain: Chain;

  constructor(bytes: Buffer, chunkSize = 64 * 1024) {
    this.bytes = bytes;
    this.geometry = new Geometry(bytes.length, chunkSize);
    const hash = createHash('sha256');
    const digests = Array.from({ length: this.geometry.count }, (_, index) => {
      hash.update(this.chunk(index));
      return hash.copy().digest();
    });
    this.chain = new Chain(this.geometry.count, new Uint8Array(Buffer.concat(digests)));
  }

  chunk(index: number): Buffer {
    const start = this.geometry.offset(index);
    return this.bytes.subarray(start, start + this.geometry.rawLength(index));
  }

  /** One raw chunk as it should be. */
  frame(index: number): Buffer {
    return this.frameWith(index, this.chunk(index));
  }

  /** A chunk frame with any payload. */
  frameWith(index: number, payload: Uint8Array, codec = 0, digest = this.chain.digest(index)): Buffer {
    return Buffer.concat([encodeChunkHeader(codec, 0, index, payload.length, digest), payload]);
  }

  manifest(changes: Partial<Manifest> & { readonly entry?: object } = {}): Buffer {
    const { entry = {}, ...rest } = changes;
    const manifest = {
      entries: [{ path: 'file.bin', size: this.bytes.length, ...entry }],
      chunkSize: this.geometry.chunkSize,
      codecs: [],
      transfer: '00',
      ...rest,
    };
    return encodeFrame('manifest', encodeManifest(manifest as unknown as Manifest));
  }
}

/** A server whose every connection runs a script. */
export interface ScriptedServer {
  readonly port: number;
  readonly peers: ScriptedPeer[];
  close(): Promise<void>;
}

/** Opens a port of the loopback interface; `script` gets each connection, counted from 0. */
export async function openScriptedServer(
  script: (peer: ScriptedPeer, connection: number) => Promise<void>,
): Promise<ScriptedServer> {
  const peers: ScriptedPeer[] = [];
  const server = createServer({ noDelay: true }, (socket) => {
    const peer = new ScriptedPeer(socket);
    peers.push(peer);
    script(peer, peers.length - 1).catch(() => peer.reset());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    peers,
    async close() {
      const closed = once(server, 'close');
      server.close();
      for (const { socket } of peers) socket.destroy();
      await closed;
    },
  };
}

/** Greets a client properly: waits for its hello, sends preamble and manifest. */
export async function welcome(peer: ScriptedPeer, manifest: Uint8Array): Promise<void> {
  await peer.frame('hello');
  await peer.send(encodePreamble(), manifest);
}

/**
 * Serves a content as it should be, until the connection is over; `chunk` may put any bytes in the place of a chunk
 * frame. Resolves to what the verdict said, if one came.
 */
export async function serveContent(
  peer: ScriptedPeer,
  content: ScriptedContent,
  options: {
    readonly manifest?: Uint8Array;
    chunk?(index: number): Uint8Array | Promise<Uint8Array>;
    /** What is sent when all chunks are; the End frame by default. */
    readonly end?: Uint8Array;
  } = {},
): Promise<{ readonly verified: boolean } | undefined> {
  const { count } = content.geometry;
  await welcome(peer, options.manifest ?? content.manifest());
  for (;;) {
    const frame = peer.frames.shift();
    if (frame === undefined) {
      if (peer.closed) return undefined;
      await new Promise<void>((resolve) => {
        const done = () => {
          peer.socket.off('data', done).off('close', done);
          setImmediate(resolve);
        };
        peer.socket.on('data', done).on('close', done);
      });
    } else if (frame.header.type === 'ask') {
      const asked = parseAsk(frame.content, count).slice(0, MAX_ASK);
      const digests = new Map(asked.map((index) => [index, content.chain.digest(index)]));
      await peer.send(encodeFrame('digests', encodeDigests(count, digests)));
    } else if (frame.header.type === 'get') {
      const get = parseGet(frame.content, count);
      for (let index = get.first; index < get.first + get.count; index++) {
        await peer.send((await options.chunk?.(index)) ?? content.frame(index));
      }
      await peer.send(options.end ?? END_FRAME);
    } else if (frame.header.type === 'verdict') {
      peer.socket.end();
      return parseVerdict(frame.content);
    }
  }
}
