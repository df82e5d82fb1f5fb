import type { EventEmitter } from 'node:events';
import type { ErrorCode, WireBoundError } from '../core/errors.js';
import { abortable } from './abortable.js';
import { listenForStop } from './stop-signals.js';

/** What a download, or a comparison, resolves to. */
interface Outcome {
  readonly result: string;
  readonly code?: ErrorCode;
  readonly message?: string;
}

/**
 * Runs a download until it has ended. The first signal aborts it, so that it can close its files and tell
 * where they are; the second does not wait for that.
 */
export async function getUntilStopped<Result extends Outcome>(
  get: (signal: AbortSignal) => Promise<Result>,
  emitter: EventEmitter = process,
): Promise<Result> {
  const stopping = new AbortController();
  const leaving = new AbortController();
  const stopListening = listenForStop((reason, count) => {
    (count === 1 ? stopping : leaving).abort(reason);
  }, emitter);
  try {
    const result = await abortable(get(stopping.signal), leaving.signal);
    const reason: WireBoundError | undefined = stopping.signal.reason;
    // Whatever the abort made of it, the signal is the reason.
    if (reason === undefined || result.result !== 'FAIL' || result.code === reason.code) return result;
    return { ...result, code: reason.code, message: reason.message };
  } catch (error) {
    throw stopping.signal.aborted ? stopping.signal.reason : error;
  } finally {
    stopListening();
  }
}
