import type { GetRequest, PluginReference } from '../composition.js';
import type { GetEvent, GetResult } from '../core/client/get-event.js';
import { WireBoundError } from '../core/errors.js';
import { checkNumber } from './check-number.js';
import { followSignal } from './interruption.js';

/** What is fetched, and where to. Everything but `host` may be left out; the defaults are those of `wirebound get`. */
export interface GetFileOptions {
  /** A name or an address, without brackets. */
  readonly host: string;
  /** Default 6767. */
  readonly port?: number | undefined;
  /** A file or a folder (the current one unless given); `/dev/null` verifies only, `-` is standard output. */
  readonly output?: string | undefined;
  /** Replace a different file, once the new one is verified. */
  readonly force?: boolean | undefined;
  /** Fail unless the file has this SHA-256, 64 hexadecimal digits. */
  readonly expect?: string | undefined;
  /** Keep trying for so long while the server is not up yet; default 0. */
  readonly waitMs?: number | undefined;
  /** Keep reconnecting for so long after the last new verified chunk; default 300000, 0 does not reconnect. */
  readonly retryForMs?: number | undefined;
  /** Plugins made with `definePlugin`, or modules that export one: a path, a URL, a package. */
  readonly plugins?: readonly PluginReference[] | undefined;
  /** Ends the run; what arrived stays in the partial file. */
  readonly signal?: AbortSignal | undefined;
  /** Called with everything that happens, in order; `wirebound get --json` prints the same objects. */
  readonly onEvent?: ((event: GetEvent) => void) | undefined;
}

/** What stands in for options that are not given; the same as the defaults of `wirebound get`. */
export const GET_DEFAULTS = { port: 6767, waitMs: 0, retryForMs: 300_000 } as const;

/**
 * Gets the file that a server serves. Resolves to `PASS` only when it is in its place with the right SHA-256, to
 * `FAIL` with a code when that went wrong after the server had said what it serves. Rejects with a WireBoundError
 * when it does not come that far: USAGE, PLUGIN_FAILED, no server, not a WireBound server, another version.
 */
export async function getFile(options: GetFileOptions): Promise<GetResult> {
  const { host, output, force, expect, plugins, onEvent } = options;
  const { port, waitMs, retryForMs } = {
    port: options.port ?? GET_DEFAULTS.port,
    waitMs: options.waitMs ?? GET_DEFAULTS.waitMs,
    retryForMs: options.retryForMs ?? GET_DEFAULTS.retryForMs,
  };
  if (typeof host !== 'string' || host === '') throw new WireBoundError('USAGE', 'host names no machine');
  checkNumber('port', port, { from: 1, to: 65535 });
  checkNumber('waitMs', waitMs, { from: 0, to: Number.MAX_SAFE_INTEGER });
  checkNumber('retryForMs', retryForMs, { from: 0, to: Number.MAX_SAFE_INTEGER });
  const interruption = followSignal(options.signal);
  const request: GetRequest = {
    host,
    port,
    waitMs,
    retryForMs,
    force: force ?? false,
    ...(output === undefined ? {} : { output }),
    ...(expect === undefined ? {} : { expect: readDigest(expect) }),
    signal: interruption.signal,
    onEvent: onEvent ?? (() => {}),
  };
  try {
    const { compose } = await import('../composition.js');
    const app = await compose({ plugins: plugins ?? [], purpose: 'get' });
    return await app.get(request);
  } finally {
    interruption.end();
  }
}

function readDigest(text: string): string {
  if (/^[0-9a-f]{64}$/i.test(text)) return text.toLowerCase();
  throw new WireBoundError(
    'USAGE',
    `expect ${JSON.stringify(text)} is not a SHA-256: give 64 hexadecimal digits`,
  );
}
