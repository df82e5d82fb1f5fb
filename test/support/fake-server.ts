import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { encodeChunkHeader, encodeFrame, encodePreamble } from '#dist/core/framing/encode-frame.js';
import { FrameDecoder } from '#dist/core/framing/frame-decoder.js';
import {
  encodeDigests,
  encodeEnd,
  encodeError,
  parseVerdict,
  type Verdict,
} from '#dist/core/framing/messages.js';

const NO_WAITS = { sourceMs: 0, digestMs: 0, codecMs: 0, rateMs: 0, networkMs: 0 };

/** A server that is not ours: what it does with a connection is the test's business. */
export interface FakeServer {
  readonly port: number;
  /** Connections so far. */
  readonly connections: number;
  close(): Promise<void>;
}

/** Listens on a free port of the loopback interface and hands every connection to `serve`. */
export async function openFakeServer(serve: (socket: Socket) => void): Promise<FakeServer> {
  const sockets = new Set<Socket>();
  let connections = 0;
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
    connections++;
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => undefined);
    serve(socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    get connections() {
      return connections;
    },
    async close() {
      const closed = once(server, 'close');
      server.close();
      for (const socket of sockets) socket.resetAndDestroy();
      await closed;
    },
  };
}

/** What {@link openFakeOffer} says and does. */
export interface FakeOffer {
  /** The whole content, one chunk of at most 64 KiB. */
  readonly content: Uint8Array;
  /** Fields of the manifest's entry that replace the true ones. */
  readonly entry?: Readonly<Record<string, unknown>>;
  /** An Error frame in place of the chunk. */
  readonly error?: { readonly code: 'INTERNAL'; readonly message: string };
}

/** Serves a small file as WireBound would, except for the lies that it is told to tell. */
export async function openFakeOffer(
  offer: FakeOffer,
): Promise<FakeServer & { readonly verdict: Promise<Verdict> }> {
  const digest = createHash('sha256').update(offer.content).digest();
  const entry = { path: 'file', size: offer.content.length, sha256: digest.toString('hex'), ...offer.entry };
  const manifest = { entries: [entry], chunkSize: 65536, codecs: [], transfer: 'fake' };
  let told!: (verdict: Verdict) => void;
  const verdict = new Promise<Verdict>((resolve) => {
    told = resolve;
  });
  const server = await openFakeServer((socket) => {
    const answer: Partial<Record<string, (content: Uint8Array) => readonly Uint8Array[]>> = {
      hello: () => [encodePreamble(), encodeFrame('manifest', Buffer.from(JSON.stringify(manifest)))],
      ask: () => [encodeFrame('digests', encodeDigests(1, new Map([[0, digest]])))],
      get: () =>
        offer.error === undefined
          ? [
              encodeChunkHeader(0, 0, 0, offer.content.length, digest),
              offer.content,
              encodeFrame('end', encodeEnd(NO_WAITS)),
            ]
          : [encodeFrame('error', encodeError(offer.error))],
      verdict: (content) => {
        told(parseVerdict(content));
        socket.end();
        return [];
      },
    };
    const decoder = new FrameDecoder({
      limit: () => 65536,
      receive: ({ header, content }) => {
        for (const part of answer[header.type]?.(content) ?? []) socket.write(part);
      },
    });
    socket.on('end', () => socket.end());
    socket.on('data', (bytes: Buffer) => {
      for (let at = 0; at < bytes.length; ) {
        const piece = bytes.subarray(at, at + decoder.target.length);
        decoder.target.set(piece);
        decoder.accept(piece.length);
        at += piece.length;
      }
    });
  });
  return {
    port: server.port,
    get connections() {
      return server.connections;
    },
    close: () => server.close(),
    verdict,
  };
}
