import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** What one direction of one connection suffers. Offsets count that direction's bytes from 0. */
export interface Faults {
  /** Passes exactly this many bytes to its side, then ends the connection. */
  readonly cutAfter?: number;
  /** How `cutAfter` ends it: both sides see a reset (default) or an orderly end. */
  readonly cutBy?: 'reset' | 'end';
  /** Passes this many bytes, then nothing more; the connection stays open. */
  readonly stallAfter?: number;
  /** Inverts the lowest bit of the byte at this offset. */
  readonly flipAt?: number;
  /** Passes at most this many bytes at a time. */
  readonly sliceBytes?: number;
  /** Waits before each piece; with `sliceBytes` this is a rate limit. */
  readonly delayMs?: number;
}

/** Faults of one connection. */
export interface ConnectionFaults {
  readonly toServer?: Faults;
  readonly toClient?: Faults;
}

/** A TCP proxy on loopback that counts what passes and does to it what bad networks do. */
export class ThrottlingProxy {
  readonly port: number;
  /** Bytes passed on to the server, all connections together. */
  bytesToServer = 0;
  /** Bytes passed on to clients, all connections together. */
  bytesToClient = 0;
  /** Connections accepted so far. */
  connections = 0;
  readonly #server: Server;
  #targetPort: number;
  readonly #sockets = new Set<Socket>();

  private constructor(server: Server, targetPort: number, faults: (connection: number) => ConnectionFaults) {
    this.#server = server;
    this.#targetPort = targetPort;
    this.port = (server.address() as AddressInfo).port;
    server.on('connection', (client) => this.#join(client, faults(this.connections++)));
  }

  /** Opens a proxy to `127.0.0.1:targetPort`. `faults` is asked with 0 for the first connection, 1 for the second... */
  static async open(
    targetPort: number,
    faults: (connection: number) => ConnectionFaults = () => ({}),
  ): Promise<ThrottlingProxy> {
    const server = createServer({ allowHalfOpen: true, noDelay: true });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new ThrottlingProxy(server, targetPort, faults);
  }

  /** New connections go to another server from now on. */
  retarget(port: number): void {
    this.#targetPort = port;
  }

  /** Resets every connection that is open now; new ones are still accepted. */
  cut(): void {
    for (const socket of this.#sockets) socket.resetAndDestroy();
  }

  /** Ends everything; resolves once the port is free. */
  async close(): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.cut();
    await closed;
  }

  #join(client: Socket, faults: ConnectionFaults): void {
    const server = connect({ port: this.#targetPort, host: '127.0.0.1', allowHalfOpen: true, noDelay: true });
    this.#track(client, server);
    this.#track(server, client);
    pass(client, server, faults.toServer ?? {}, (bytes) => {
      this.bytesToServer += bytes;
    });
    pass(server, client, faults.toClient ?? {}, (bytes) => {
      this.bytesToClient += bytes;
    });
  }

  /** A side that fails takes the other with it, as it would without a proxy between them. */
  #track(socket: Socket, other: Socket): void {
    this.#sockets.add(socket);
    socket.on('error', () => other.resetAndDestroy());
    socket.on('close', () => this.#sockets.delete(socket));
  }
}

/** Carries one direction to its end; a failure of either socket ends it quietly, `#track` does the rest. */
function pass(from: Socket, to: Socket, faults: Faults, count: (bytes: number) => void): void {
  carry(from, to, faults, count).catch(() => {});
}

async function carry(
  from: Socket,
  to: Socket,
  faults: Faults,
  count: (bytes: number) => void,
): Promise<void> {
  const { cutAfter = Infinity, stallAfter = Infinity, flipAt = Infinity, delayMs } = faults;
  let left = Math.min(cutAfter, stallAfter);
  let offset = 0;
  for await (const piece of from.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    for (const bytes of slices(piece.subarray(0, left), faults.sliceBytes ?? piece.length)) {
      if (delayMs !== undefined) await sleep(delayMs, undefined, { ref: false });
      flip(bytes, flipAt - offset);
      await write(to, bytes);
      count(bytes.length);
      offset += bytes.length;
      left -= bytes.length;
    }
    if (left > 0) continue;
    if (stallAfter <= cutAfter) return;
    for (const socket of [to, from]) faults.cutBy === 'end' ? socket.end() : socket.resetAndDestroy();
    return;
  }
  to.end();
}

function* slices(piece: Buffer, length: number): Generator<Buffer> {
  for (let at = 0; at < piece.length; at += length) yield piece.subarray(at, at + length);
}

function flip(bytes: Buffer, at: number): void {
  if (at >= 0 && at < bytes.length) bytes.writeUInt8(bytes.readUInt8(at) ^ 1, at);
}

/** Resolves once the kernel has the bytes, so that a cut right after them loses none. */
function write(to: Socket, bytes: Buffer): Promise<void> {
  return new Promise((resolve, reject) => {
    to.write(bytes, (error) => (error ? reject(error) : resolve()));
  });
}
