import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { content } from '../../support/content.js';
import { type ConnectionFaults, ThrottlingProxy } from '../../support/throttling-proxy.js';

const SENT = content('random', 300_000);

/** Connects, sends `say`, and collects what comes until the connection is over. */
async function talk(port: number, say: Uint8Array): Promise<{ got: Buffer; error: string | undefined }> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  const pieces: Buffer[] = [];
  socket.on('data', (piece: Buffer) => pieces.push(piece));
  const error = new Promise<string | undefined>((resolve) => {
    socket.on('error', (failure: NodeJS.ErrnoException) => resolve(failure.code));
    socket.on('close', () => resolve(undefined));
  });
  socket.end(say);
  return { error: await error, got: Buffer.concat(pieces) };
}

/** `once(socket, 'close')` would reject on the reset that is expected here. */
function closed(socket: Socket): Promise<void> {
  return new Promise((resolve) => (socket.closed ? resolve() : socket.on('close', () => resolve())));
}

describe('the proxy', () => {
  let server: Server;
  let proxy: ThrottlingProxy | undefined;

  /** Answers with SENT once the client has ended; keeps no one waiting on an early reset. */
  beforeEach(async () => {
    server = createServer({ allowHalfOpen: true }, (socket: Socket) => {
      socket.on('error', () => {});
      socket.resume().on('end', () => socket.end(SENT));
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
  });

  afterEach(async () => {
    await proxy?.close();
    await new Promise((resolve) => server.close(resolve));
  });

  async function open(...faults: readonly ConnectionFaults[]): Promise<ThrottlingProxy> {
    proxy = await ThrottlingProxy.open((server.address() as AddressInfo).port, (n) => faults[n] ?? {});
    return proxy;
  }

  test('passes everything both ways, half-closes included, and counts it', async () => {
    const { port } = await open();
    const { got, error } = await talk(port, Buffer.from('hello'));
    expect(error).toBeUndefined();
    expect(got.equals(SENT)).toBe(true);
    expect(proxy).toMatchObject({ bytesToServer: 5, bytesToClient: SENT.length, connections: 1 });
  });

  test('passes everything in slices', async () => {
    const { port } = await open({ toClient: { sliceBytes: 100_001, delayMs: 1 } });
    expect((await talk(port, Buffer.from('hello'))).got.equals(SENT)).toBe(true);
  });

  test('flips one bit and nothing else', async () => {
    const { port } = await open({ toClient: { flipAt: 123_456 } });
    const expected = Buffer.from(SENT);
    expected.writeUInt8(expected.readUInt8(123_456) ^ 1, 123_456);
    expect((await talk(port, Buffer.from('hello'))).got.equals(expected)).toBe(true);
  });

  test('can end in an orderly way, all bytes delivered, and leaves the next connection alone', async () => {
    const { port } = await open({ toClient: { cutAfter: 70_001, cutBy: 'end' } });
    expect((await talk(port, Buffer.from('hello'))).got.equals(SENT.subarray(0, 70_001))).toBe(true);
    expect((await talk(port, Buffer.from('hello'))).got.equals(SENT)).toBe(true);
  });

  test('ends both sides after exactly as many bytes as told', async () => {
    const { port } = await open({ toClient: { cutAfter: 70_001 } });
    const accepted = new Promise<Socket>((resolve) => server.once('connection', resolve));
    const { got } = await talk(port, Buffer.from('hello'));
    expect(got.equals(SENT.subarray(0, got.length))).toBe(true);
    await closed(await accepted);
    expect(proxy?.bytesToClient).toBe(70_001);
  });

  test('stalls without ending until it is cut, which is a reset', async () => {
    const { port } = await open({ toClient: { stallAfter: 1000 } });
    const client = connect({ port, host: '127.0.0.1' });
    const failure = new Promise((resolve) => client.on('error', resolve));
    client.end('hello');
    const [piece] = (await once(client, 'data')) as [Buffer];
    expect(piece).toEqual(SENT.subarray(0, 1000));
    expect(client.readableEnded).toBe(false);
    proxy?.cut();
    expect(await failure).toMatchObject({ code: 'ECONNRESET' });
    expect(client.bytesRead).toBe(1000);
  });
});
