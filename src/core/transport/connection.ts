import type { Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { systemCode, WireBoundError } from '../errors.js';
import type { ReadTcpRecord, TcpRecord } from './tcp-record.js';

/** How long a closing side waits for the other to take the last bytes, milliseconds. */
const LINGER_MS = 5_000;

/**
 * A connected socket as: an awaited `send`, an orderly `finish`, an abrupt `destroy`, and one signal that says
 * it is gone. Bytes coming in are the owner's business (a server copies, a client reads in place).
 */
export class Connection {
  /** The other side's address and port, for people; a closed socket does not know them any more. */
  readonly peer: string;
  /** This side's address and port, for people. */
  readonly here: string;
  readonly #socket: Socket;
  readonly #readRecord: ReadTcpRecord | undefined;
  readonly #gone = new AbortController();
  #bytesSent = 0;
  #bytesHandedOver = 0;

  /** Takes the socket over, its error events included. */
  constructor(socket: Socket, readRecord?: ReadTcpRecord) {
    this.#socket = socket;
    this.#readRecord = readRecord;
    this.peer = formatEndpoint(socket.remoteAddress, socket.remotePort);
    this.here = formatEndpoint(socket.localAddress, socket.localPort);
    socket.setNoDelay(true);
    socket.on('error', (error) => this.#lost(error));
    socket.on('close', () => this.#lost(undefined));
  }

  /** What the kernel has noted of it so far, where it says. */
  get tcpRecord(): TcpRecord | undefined {
    return this.#readRecord?.(this.#socket);
  }

  /** Bytes that the kernel has taken. */
  get bytesSent(): number {
    return this.#bytesSent;
  }

  /** Bytes that the kernel has taken or is about to take. */
  get bytesHandedOver(): number {
    return this.#bytesHandedOver;
  }

  /** Aborted once the connection is gone, with a WireBoundError as its reason. */
  get gone(): AbortSignal {
    return this.#gone.signal;
  }

  /**
   * Sends all parts in one go and resolves when the kernel has taken them, one turn of the event loop later:
   * only then is the memory the caller's again. Without that turn a fast socket would keep everyone else
   * waiting, since the kernel often takes a write at once. Rejects when the connection is gone; the memory is
   * free then, too.
   */
  async send(parts: readonly Uint8Array[]): Promise<void> {
    for (const part of parts) this.#bytesHandedOver += part.length;
    await new Promise<void>((resolve) => {
      this.#socket.cork();
      parts.forEach((part, at) => {
        this.#socket.write(part, at === parts.length - 1 ? () => resolve() : undefined);
      });
      this.#socket.uncork();
    });
    await nextTurn();
    this.gone.throwIfAborted();
    for (const part of parts) this.#bytesSent += part.length;
  }

  /** Sends a last part, then closes: waits until the other side has closed too, or `lingerMs` milliseconds at most. */
  async finish(part?: Uint8Array, lingerMs = LINGER_MS): Promise<void> {
    if (this.gone.aborted) return;
    const deadline = setTimeout(() => this.#socket.destroy(), lingerMs);
    await new Promise<void>((resolve) => {
      this.gone.addEventListener('abort', () => resolve(), { once: true });
      this.#socket.resume();
      if (part === undefined) this.#socket.end();
      else this.#socket.end(part);
    });
    clearTimeout(deadline);
  }

  /** Closes at once; `reason` is what {@link gone} then says. */
  destroy(reason?: WireBoundError): void {
    if (reason !== undefined) this.#gone.abort(reason);
    this.#socket.destroy();
  }

  #lost(error: Error | undefined): void {
    if (this.gone.aborted) return;
    const detail = error === undefined ? '' : ` (${systemCode(error) || error.message})`;
    this.#gone.abort(
      new WireBoundError('CONNECTION_LOST', `the connection to ${this.peer} was lost${detail}`, {
        cause: error,
      }),
    );
  }
}

/** `192.168.1.20:6767`, `[fe80::1]:6767`; an IPv4 address that travels as IPv6 is shown as IPv4. */
function formatEndpoint(address = 'unknown', port = 0): string {
  const plain = address.replace(/^::ffff:/, '');
  return plain.includes(':') ? `[${plain}]:${port}` : `${plain}:${port}`;
}
