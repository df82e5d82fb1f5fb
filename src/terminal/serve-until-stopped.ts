import type { EventEmitter } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import type { WireBoundError } from '../core/errors.js';
import type { ServeSummary } from '../core/server/serve-event.js';
import { abortable } from './abortable.js';
import { listenForStop } from './stop-signals.js';

/** How long a server that was told to stop now may take before the process ends without it. */
const FORCED_STOP_MS = 1_500;

/** As much of a server as its signals need. */
interface StoppableServer {
  drain(): void;
  stop(): void;
  readonly finished: Promise<ServeSummary>;
}

/** How a server ended. */
export interface ServeOutcome {
  /** Undefined when it did not stop in time. */
  readonly summary: ServeSummary | undefined;
  /** Why it was stopped before its transfers were done. */
  readonly forced: WireBoundError | undefined;
}

/**
 * Runs a server until it has finished. A signal before it listens rejects at once; the first one after that
 * drains it, the second stops it, more do nothing.
 */
export async function serveUntilStopped(
  start: (signal: AbortSignal) => Promise<StoppableServer>,
  emitter: EventEmitter = process,
): Promise<ServeOutcome> {
  const startup = new AbortController();
  const forcing = new AbortController();
  let server: StoppableServer | undefined;
  let draining = false;
  const stopListening = listenForStop((reason) => {
    if (server === undefined) startup.abort(reason);
    else if (draining) forcing.abort(reason);
    else {
      draining = true;
      server.drain();
    }
  }, emitter);
  try {
    server = await abortable(start(startup.signal), startup.signal);
    const summary = await Promise.race([server.finished, stopNow(server, forcing.signal)]);
    return { summary, forced: forcing.signal.reason };
  } finally {
    stopListening();
  }
}

/** Waits for the order to stop now, gives it, and allows a short time for what it takes. */
async function stopNow(server: StoppableServer, signal: AbortSignal): Promise<ServeSummary | undefined> {
  await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
  server.stop();
  return Promise.race([server.finished, delay(FORCED_STOP_MS, undefined, { ref: false })]);
}
