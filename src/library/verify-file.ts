import type { VerifyEvent, VerifyResult } from '../core/client/verify-event.js';
import { WireBoundError } from '../core/errors.js';
import { type ClientOptions, readServer } from './client-options.js';
import { followSignal } from './interruption.js';

/** What is compared. Everything but `file` and `host` may be left out; the defaults are those of `wirebound verify`. */
export interface VerifyFileOptions extends ClientOptions {
  /** The local copy. */
  readonly file: string;
  /** Put what was fetched in the place of what is not right. */
  readonly repair?: boolean | undefined;
  /** Called with everything that happens, in order; `wirebound verify --json` prints the same objects. */
  readonly onEvent?: ((event: VerifyEvent) => void) | undefined;
}

/**
 * Compares a local copy with the file that a server serves. A copy that is different is a result, not an error. Rejects
 * with a WireBoundError when the comparison does not come to its end: USAGE, PLUGIN_FAILED, the SINK family for the copy, SOURCE_CHANGED, no
 * server, not a WireBound server, INTERRUPTED by `signal`.
 */
export async function verifyFile(options: VerifyFileOptions): Promise<VerifyResult> {
  const { file, repair, plugins, onEvent } = options;
  if (typeof file !== 'string' || file === '')
    throw new WireBoundError('USAGE', 'file names nothing to verify');
  const server = readServer(options);
  const interruption = followSignal(options.signal);
  try {
    const { compose } = await import('../composition.js');
    const app = await compose({ plugins: plugins ?? [] });
    return await app.verify({
      ...server,
      path: file,
      repair: repair ?? false,
      signal: interruption.signal,
      onEvent: onEvent ?? (() => {}),
    });
  } finally {
    interruption.end();
  }
}
