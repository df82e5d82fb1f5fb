import type { EventEmitter } from 'node:events';
import type { GetResult } from '../core/client/get-event.js';
import type { WireBoundError } from '../core/errors.js';
import { abortable } from './abortable.js';
import { listenForStop } from './stop-signals.js';

/**
 * Runs a download until it has ended. The first signal aborts it, so that it can close its files and tell
 * where they are; the second does not wait for that.
 */
export async function getUntilStopped(
  get: (signal: AbortSignal) => Promise<GetResult>,
  emitter: EventEmitter = process,
): Promise<GetResult> {
  const stopping = new AbortController();
  const leaving = new AbortController();
  const stopListening = listenForStop((reason, count) => {
    (count === 1 ? stopping : leaving).abort(reason);
  }, emitter);
  try {
    const result = await abortable(get(stopping.signal), leaving.signal);
    const reason: WireBoundError | undefined = stopping.signal.reason;
    // Whatever the abort made of it, the signal is the reason.
    if (reason === undefined || result.result === 'PASS' || result.code === reason.code) return result;
    return { ...result, code: reason.code, message: reason.message };
  } catch (error) {
    throw stopping.signal.aborted ? stopping.signal.reason : error;
  } finally {
    stopListening();
  }
}
