import { connect, type OnReadOpts, type Socket } from 'node:net';
import { systemCode, WireBoundError } from '../errors.js';

/** Time for one of several addresses of a name before the next is tried, milliseconds. */
const ADDRESS_TIMEOUT_MS = 1_000;

/** Where a server listens. */
export interface Target {
  readonly host: string;
  readonly port: number;
}

/** `host:port`, with brackets around an IPv6 address. */
export function formatTarget({ host, port }: Target): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}

/**
 * Opens a TCP connection, trying every address the name has. `onread` takes what comes in, in place. Throws
 * HOST_NOT_FOUND, CONNECTION_REFUSED, CONNECTION_TIMEOUT, or the signal's reason.
 */
export async function openSocket(
  target: Target,
  options: { readonly timeoutMs: number; readonly signal: AbortSignal; readonly onread: OnReadOpts },
): Promise<Socket> {
  const { timeoutMs, signal, onread } = options;
  signal.throwIfAborted();
  const socket = connect({
    host: target.host,
    port: target.port,
    onread,
    noDelay: true,
    keepAlive: true,
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: ADDRESS_TIMEOUT_MS,
  });
  const abort = () => socket.destroy(signal.reason as Error);
  const deadline = setTimeout(() => socket.destroy(timeout(target, timeoutMs)), timeoutMs);
  signal.addEventListener('abort', abort, { once: true });
  try {
    await new Promise<void>((resolve, reject) => {
      socket.once('connect', resolve);
      socket.once('error', reject);
    });
    socket.removeAllListeners('error');
    return socket;
  } catch (error) {
    socket.on('error', () => undefined);
    socket.destroy();
    if (error instanceof WireBoundError || signal.aborted) throw error;
    throw connectFailure(error, target);
  } finally {
    clearTimeout(deadline);
    signal.removeEventListener('abort', abort);
  }
}

function timeout(target: Target, timeoutMs: number): WireBoundError {
  return new WireBoundError(
    'CONNECTION_TIMEOUT',
    `connecting to ${formatTarget(target)} timed out after ${Math.round(timeoutMs / 1000)} s`,
    { suggestions: ['check the address and that no firewall is in between'] },
  );
}

function connectFailure(cause: unknown, target: Target): WireBoundError {
  const errors: readonly unknown[] = cause instanceof AggregateError ? cause.errors : [cause];
  const codes = errors.map((error) => systemCode(error));
  const tried = errors
    .map((error) => (error as { address?: unknown }).address)
    .filter((address) => typeof address === 'string' && address !== target.host);
  const where = `${formatTarget(target)}${tried.length > 0 ? ` (${tried.join(', ')})` : ''}`;
  const first = codes[0] || String(cause);
  if (codes.some((code) => code === 'ENOTFOUND' || code.startsWith('EAI_'))) {
    return new WireBoundError('HOST_NOT_FOUND', `cannot resolve the host name ${target.host} (${first})`, {
      suggestions: ['check the spelling, or use the address that wirebound serve prints'],
      cause,
    });
  }
  if (codes.includes('ECONNREFUSED')) {
    return new WireBoundError('CONNECTION_REFUSED', `connection refused: nothing listens at ${where}`, {
      suggestions: ['is wirebound serve running there? --wait SECONDS keeps trying until it is'],
      cause,
    });
  }
  const reason = codes.some((code) => code === 'ETIMEDOUT')
    ? 'timed out'
    : `failed: it is unreachable (${first})`;
  return new WireBoundError('CONNECTION_TIMEOUT', `connecting to ${where} ${reason}`, {
    suggestions: ['check the address and that no firewall is in between'],
    cause,
  });
}
