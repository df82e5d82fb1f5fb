import type { GetRequest } from '../composition.js';
import type { GetEvent, GetResult } from '../core/client/get-event.js';
import { WireBoundError } from '../core/errors.js';
import { type ClientOptions, readServer } from './client-options.js';
import { followSignal } from './interruption.js';

/** What is fetched, and where to. Everything but `host` may be left out; the defaults are those of `wirebound get`. */
export interface GetFileOptions extends ClientOptions {
  /** A file or a folder (the current one unless given); `/dev/null` verifies only, `-` is standard output. */
  readonly output?: string | undefined;
  /** Replace a different file, once the new one is verified. */
  readonly force?: boolean | undefined;
  /** Fail unless the file has this SHA-256, 64 hexadecimal digits. */
  readonly expect?: string | undefined;
  /** Called with everything that happens, in order; `wirebound get --json` prints the same objects. */
  readonly onEvent?: ((event: GetEvent) => void) | undefined;
}

/**
 * Gets the file that a server serves. Resolves to `PASS` only when it is in its place with the right SHA-256, to
 * `FAIL` with a code when that went wrong after the server had said what it serves. Rejects with a WireBoundError
 * when it does not come that far: USAGE, PLUGIN_FAILED, no server, not a WireBound server, another version. What arrived
 * before `signal` was aborted stays in the partial file.
 */
export async function getFile(options: GetFileOptions): Promise<GetResult> {
  const { output, force, expect, plugins, onEvent } = options;
  const server = readServer(options);
  const interruption = followSignal(options.signal);
  const request: GetRequest = {
    ...server,
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
