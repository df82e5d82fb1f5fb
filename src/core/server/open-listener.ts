import { createServer, type Server, type Socket } from 'node:net';
import { systemCode, WireBoundError } from '../errors.js';

/** Connections the kernel holds for us while the event loop is busy. */
const BACKLOG = 1024;

/** A listening server; every socket is half-open, so that a client may end its side first. */
export interface Listener {
  readonly server: Server;
  /** The port; the one that the system picked where 0 was asked for. */
  readonly port: number;
  /** The address it is bound to, `::` for all of both families. */
  readonly host: string;
}

/**
 * Opens the port. Without `host`: all interfaces, IPv6 and IPv4, or IPv4 alone where there is no IPv6. Throws
 * PORT_IN_USE and LISTEN_FAILED.
 */
export async function openListener(
  port: number,
  host: string | undefined,
  onSocket: (socket: Socket) => void,
): Promise<Listener> {
  try {
    return await listen(port, host ?? '::', onSocket);
  } catch (error) {
    const noIpv6 = ['EAFNOSUPPORT', 'EADDRNOTAVAIL', 'EINVAL'].includes(systemCode(error));
    if (host !== undefined || !noIpv6) throw listenFailure(error, port, host);
    return await listen(port, '0.0.0.0', onSocket).catch((again: unknown) => {
      throw listenFailure(again, port, host);
    });
  }
}

/**
 * Throws at once what {@link openListener} would throw later: for a server whose content takes long to take in. The
 * port is free again when this resolves.
 */
export async function checkPort(port: number, host: string | undefined): Promise<void> {
  const { server } = await openListener(port, host, (socket) => socket.destroy());
  await new Promise<void>((resolve) => server.close(() => resolve()));
}

function listen(port: number, host: string, onSocket: (socket: Socket) => void): Promise<Listener> {
  const server = createServer({ allowHalfOpen: true, noDelay: true, keepAlive: true }, onSocket);
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ port, host, backlog: BACKLOG }, () => {
      server.off('error', reject);
      server.on('error', () => undefined); // a failed accept (EMFILE) concerns that client only
      const address = server.address();
      if (address === null || typeof address === 'string')
        throw new Error('a TCP server has an address and a port');
      resolve({ server, port: address.port, host: address.address });
    });
  });
}

function listenFailure(error: unknown, port: number, host: string | undefined): WireBoundError {
  const code = systemCode(error);
  if (code === 'EADDRINUSE') {
    return new WireBoundError('PORT_IN_USE', `port ${port} is already in use`, {
      suggestions: ['choose another one with --port, or --port 0 to have one picked'],
      cause: error,
    });
  }
  const where = host === undefined ? `port ${port}` : `${host} port ${port}`;
  const [reason, suggestion] =
    code === 'EACCES'
      ? ['permission denied', 'choose a port from 1024 upwards with --port']
      : code === 'EADDRNOTAVAIL'
        ? ['this machine does not have that address', 'leave --host out to listen on all interfaces']
        : code === 'ENOTFOUND'
          ? ['the name does not resolve', 'give --host an address of this machine']
          : [code || String(error), 'check --host and --port'];
  return new WireBoundError('LISTEN_FAILED', `cannot listen on ${where}: ${reason}`, {
    suggestions: [suggestion],
    cause: error,
  });
}
