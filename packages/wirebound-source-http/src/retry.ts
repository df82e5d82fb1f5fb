import { setTimeout as delay } from 'node:timers/promises';
import { WireBoundError } from 'wirebound';
import { TransientError } from './failures.js';
import type { HttpLimits } from './http-limits.js';

/**
 * Calls `attempt` until it does not fail with a TransientError any more, or as often as the limits allow without
 * `progress` moving; then it is SOURCE_UNREADABLE.
 */
export async function retry<T>(
  limits: HttpLimits,
  attempt: () => Promise<T>,
  progress: () => number = () => 0,
): Promise<T> {
  for (let failures = 0, before = progress(); ; ) {
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof TransientError)) throw error;
      failures = progress() > before ? 1 : failures + 1;
      before = progress();
      if (failures >= limits.attempts) {
        throw new WireBoundError('SOURCE_UNREADABLE', `${error.message} (${failures} attempts)`, {
          cause: error,
        });
      }
      await delay(limits.pauseMs * 2 ** (failures - 1));
    }
  }
}
