import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ChunkSource, StreamSource } from 'wirebound';

/** A web server that misbehaves as a test wants it to. */
export async function startServer(
  listener: RequestListener,
): Promise<{ readonly url: string; stop(): Promise<void> }> {
  const server: Server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/file.bin`,
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** First and last byte of a `Range` header. */
export function rangeOf(header: string | undefined): readonly [first: number, last: number] {
  const [, first, last] = /^bytes=(\d+)-(\d+)$/.exec(header ?? '') ?? [];
  return [Number(first), Number(last)];
}

/** Narrows what a source opened to one that can be read anywhere. */
export function seekable(opened: ChunkSource | StreamSource): ChunkSource {
  if ('stream' in opened) throw new Error('it is a stream');
  return opened;
}

export async function collect(stream: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  for await (const piece of stream) pieces.push(piece);
  return Buffer.concat(pieces);
}
