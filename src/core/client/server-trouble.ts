import { WireBoundError } from '../errors.js';

/** An error in what `server` sent, with its name in front. */
export function namingServer(error: WireBoundError, server: string): WireBoundError {
  if (error.message.startsWith(server)) return error;
  const { code, suggestions } = error;
  const message = code === 'NOT_WIREBOUND' ? ' is not a WireBound server' : `: ${error.message}`;
  return new WireBoundError(code, `${server}${message}`, { suggestions });
}

/** For a server that has sent no Manifest in time; `greeted` is whether it began like one. */
export function noManifest(server: string, greeted: boolean, timeoutMs: number): WireBoundError {
  const seconds = Math.round(timeoutMs / 1000);
  return greeted
    ? new WireBoundError('IDLE', `${server} did not say within ${seconds} s what it serves`)
    : new WireBoundError(
        'NOT_WIREBOUND',
        `${server} is not a WireBound server: it did not answer within ${seconds} s`,
      );
}

/** For a server that was silent for too long. */
export function noData(server: string, timeoutMs: number): WireBoundError {
  return new WireBoundError('IDLE', `no data from ${server} for ${Math.round(timeoutMs / 1000)} s`);
}
