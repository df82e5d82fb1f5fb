import { WireBoundError } from '../core/errors.js';

/** A signal of ours that follows a caller's. */
export interface Interruption {
  /** Aborted, with an INTERRUPTED error as its reason, as soon as the caller's signal is. */
  readonly signal: AbortSignal;
  /** Stops following. */
  end(): void;
}

/** Follows `signal`, if there is one; its reason becomes the cause of ours. */
export function followSignal(signal: AbortSignal | undefined): Interruption {
  const own = new AbortController();
  const abort = () => {
    own.abort(
      new WireBoundError('INTERRUPTED', 'stopped by the signal of the caller', { cause: signal?.reason }),
    );
  };
  if (signal?.aborted) abort();
  else signal?.addEventListener('abort', abort, { once: true });
  return { signal: own.signal, end: () => signal?.removeEventListener('abort', abort) };
}
