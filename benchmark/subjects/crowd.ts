/**
 * Many clients in one process: `crowd.ts PORT CLIENTS CHUNKS SIZE`. They all connect and wait for each other,
 * then all get the whole file at once, and drop what they read. Prints `connected`, then `done`, and stays
 * connected until it is ended.
 */

import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createConnection, type Socket } from 'node:net';
import { encodeFrame, encodePreamble } from '#dist/core/framing/encode-frame.js';
import { encodeGet, encodeHello } from '#dist/core/framing/messages.js';

const [port = 0, clients = 0, chunks = 0, size = 0] = process.argv.slice(2).map(Number);
const scrap = Buffer.alloc(2 ** 18);

class Member {
  readonly socket: Socket;
  #received = 0;
  #awaited = 1;
  #arrived: () => void = () => undefined;

  constructor() {
    const callback = (count: number) => {
      this.#received += count;
      if (this.#received >= this.#awaited) this.#arrived();
      return true;
    };
    this.socket = createConnection({ port, host: '127.0.0.1', onread: { buffer: scrap, callback } });
  }

  /** Says hello and waits for the answer. */
  async connect(): Promise<void> {
    await once(this.socket, 'connect');
    const hello = encodeHello({ agent: 'crowd', codecs: [], run: randomBytes(16).toString('hex') });
    const answered = this.#atLeast(1);
    this.socket.write(Buffer.concat([encodePreamble(), encodeFrame('hello', hello)]));
    await answered;
  }

  /** Asks for everything and waits until as much has come. */
  async get(): Promise<void> {
    const arrived = this.#atLeast(this.#received + size);
    this.socket.write(encodeFrame('get', encodeGet({ first: 0, count: chunks, reason: 'first' })));
    await arrived;
  }

  #atLeast(bytes: number): Promise<void> {
    this.#awaited = bytes;
    return new Promise((resolve, reject) => {
      this.#arrived = resolve;
      this.socket.once('close', () => reject(new Error('the server closed the connection')));
    });
  }
}

const members = Array.from({ length: clients }, () => new Member());
await Promise.all(members.map((member) => member.connect()));
console.log('connected');
await Promise.all(members.map((member) => member.get()));
console.log('done');
