import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { afterEach, describe, expect, test } from '@jest/globals';
import { formatTarget, openSocket, type Target } from '#dist/core/client/connect.js';
import { WireBoundError } from '#dist/core/errors.js';
import { runModule } from '../../../support/run-module.js';

const never = new AbortController().signal;
const onread = { buffer: Buffer.alloc(100), callback: () => true };

/** Listens and then never accepts: once its short queue is full, the kernel lets further clients wait. */
const DEAF_SERVER = `
  import { createServer } from 'node:net';
  createServer().listen({ port: Number(process.argv[1]), host: '127.0.0.1', backlog: 1 }, () => {
    process.stdout.write('listening', () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0));
  });`;

const open: (Server | Socket)[] = [];
afterEach(() => {
  for (const each of open.splice(0)) {
    if ('destroy' in each) each.destroy();
    else each.close();
  }
});

describe('openSocket', () => {
  test('it connects, and what comes in goes to the given memory', async () => {
    const server = await listen('127.0.0.1');
    server.on('connection', (peer) => peer.end('hello'));
    const buffer = Buffer.alloc(100);
    const heard = new Promise<number>((resolve) => {
      const reading = { buffer, callback: (count: number) => resolve(count) === undefined };
      void connect(portOf(server), { onread: reading });
    });
    expect(buffer.toString('latin1', 0, await heard)).toBe('hello');
  });

  test('of the addresses of a name one that answers is enough', async () => {
    const server = await listen('127.0.0.1');
    const socket = await connect(portOf(server), { host: 'localhost' });
    expect(socket.remotePort).toBe(portOf(server));
  });

  test('a port where nobody listens is CONNECTION_REFUSED, with the place', async () => {
    const port = await freePort();
    await expect(connect(port)).rejects.toMatchObject({
      code: 'CONNECTION_REFUSED',
      message: `connection refused: nothing listens at 127.0.0.1:${port}`,
      suggestions: [expect.stringContaining('--wait')],
    });
  });

  test('a refusal by name tells the addresses that were tried', async () => {
    const port = await freePort();
    await expect(connect(port, { host: 'localhost' })).rejects.toMatchObject({
      code: 'CONNECTION_REFUSED',
      message: expect.stringMatching(
        new RegExp(`^connection refused: nothing listens at localhost:${port} \\(.*127.0.0.1`),
      ),
    });
  });

  test('a name that does not exist is HOST_NOT_FOUND', async () => {
    await expect(connect(1, { host: 'no..such..host' })).rejects.toMatchObject({
      code: 'HOST_NOT_FOUND',
      message: expect.stringMatching(/^cannot resolve the host name no\.\.such\.\.host \(E/),
    });
  });

  test('an address that cannot be reached says so', async () => {
    // Documentation prefix (RFC 3849); a machine that has a route for it lets the timeout decide.
    const failure = connect(1, { host: '2001:db8::1', timeoutMs: 300 });
    await expect(failure).rejects.toMatchObject({
      code: 'CONNECTION_TIMEOUT',
      message: expect.stringMatching(
        /^connecting to \[2001:db8::1\]:1 (timed out|failed: it is unreachable \(E)/,
      ),
    });
  });

  test('a host that does not answer is CONNECTION_TIMEOUT', async () => {
    const port = await freePort();
    const deaf = runModule(DEAF_SERVER, [String(port)]);
    try {
      await deaf.waitFor('listening');
      const fill = async () => {
        for (let each = 0; each < 8; each++) await connect(port, { timeoutMs: 500 });
      };
      await expect(fill()).rejects.toMatchObject({
        code: 'CONNECTION_TIMEOUT',
        message: `connecting to 127.0.0.1:${port} timed out after 1 s`,
        suggestions: [expect.stringContaining('firewall')],
      });
    } finally {
      await deaf.end();
    }
  });

  test('an abort ends it with its reason, before and while it connects', async () => {
    const reason = new WireBoundError('INTERRUPTED', 'stopped');
    const server = await listen('127.0.0.1');
    await expect(connect(portOf(server), { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    for (const why of [reason, new Error('any other')]) {
      const controller = new AbortController();
      const connecting = connect(portOf(server), { signal: controller.signal });
      controller.abort(why);
      await expect(connecting).rejects.toBe(why);
    }
  });
});

test('a target is shown as it is typed, IPv6 in brackets', () => {
  expect(formatTarget({ host: '10.0.0.1', port: 6767 })).toBe('10.0.0.1:6767');
  expect(formatTarget({ host: 'fe80::1%eth0', port: 1 })).toBe('[fe80::1%eth0]:1');
});

type Options = Partial<Parameters<typeof openSocket>[1] & Target>;

async function connect(port: number, options: Options = {}): Promise<Socket> {
  const { host = '127.0.0.1', ...rest } = options;
  const socket = await openSocket({ host, port }, { timeoutMs: 10_000, signal: never, onread, ...rest });
  open.push(socket.on('error', () => undefined));
  return socket;
}

async function listen(host: string): Promise<Server> {
  const server = createServer((peer) => void open.push(peer.on('error', () => undefined)));
  server.listen(0, host);
  await once(server, 'listening');
  open.push(server);
  return server;
}

function portOf(server: Server): number {
  return (server.address() as AddressInfo).port;
}

async function freePort(): Promise<number> {
  const server = await listen('127.0.0.1');
  const port = portOf(server);
  server.close();
  await once(server, 'close');
  return port;
}
