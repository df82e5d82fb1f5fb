import type { EventEmitter } from 'node:events';
import { WireBoundError } from '../core/errors.js';

const STOP_SIGNALS = {
  SIGINT: ['INTERRUPTED', 'stopped by Ctrl+C (SIGINT)'],
  SIGTERM: ['TERMINATED', 'stopped by SIGTERM'],
  SIGHUP: ['TERMINATED', 'stopped because the terminal was closed (SIGHUP)'],
} as const;

/**
 * Calls `onStop` for each signal that asks this process to stop, with the error that says so and how many
 * there have been. Returns what ends the listening. The signals do nothing by themselves from then on either: the
 * process is about to end, and one more must not change how.
 */
export function listenForStop(
  onStop: (reason: WireBoundError, count: number) => void,
  emitter: EventEmitter = process,
): () => void {
  let count = 0;
  const listeners = Object.entries(STOP_SIGNALS).map(([signal, [code, message]]) => {
    const listener = (): void => onStop(new WireBoundError(code, message), ++count);
    emitter.on(signal, listener);
    return () => {
      emitter.on(signal, ignore);
      emitter.off(signal, listener);
    };
  });
  return () => {
    for (const remove of listeners) remove();
  };
}

function ignore(): void {}
