import type { PluginReference } from '../composition.js';
import { WireBoundError } from '../core/errors.js';
import { checkNumber } from './check-number.js';

/** Which server, and how patiently. Everything but `host` may be left out. */
export interface ClientOptions {
  /** A name or an address, without brackets. */
  readonly host: string;
  /** Default 6767. */
  readonly port?: number | undefined;
  /** Keep trying for so long while the server is not up yet; default 0. */
  readonly waitMs?: number | undefined;
  /** Keep reconnecting for so long after the last new verified chunk; default 300000, 0 does not reconnect. */
  readonly retryForMs?: number | undefined;
  /** Plugins made with `definePlugin`, or modules that export one: a path, a URL, a package. */
  readonly plugins?: readonly PluginReference[] | undefined;
  /** Ends the run. */
  readonly signal?: AbortSignal | undefined;
}

/** What stands in for options that are not given; the same as the defaults of `wirebound get`. */
export const CLIENT_DEFAULTS = { port: 6767, waitMs: 0, retryForMs: 300_000 } as const;

/** Puts the defaults in. Throws USAGE for what is out of range. */
export function readServer(options: ClientOptions) {
  const { host } = options;
  const port = options.port ?? CLIENT_DEFAULTS.port;
  const waitMs = options.waitMs ?? CLIENT_DEFAULTS.waitMs;
  const retryForMs = options.retryForMs ?? CLIENT_DEFAULTS.retryForMs;
  if (typeof host !== 'string' || host === '') throw new WireBoundError('USAGE', 'host names no machine');
  checkNumber('port', port, { from: 1, to: 65535 });
  checkNumber('waitMs', waitMs, { from: 0, to: Number.MAX_SAFE_INTEGER });
  checkNumber('retryForMs', retryForMs, { from: 0, to: Number.MAX_SAFE_INTEGER });
  return { host, port, waitMs, retryForMs };
}
