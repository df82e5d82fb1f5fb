import { createConnection } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

/** Tries `attempt` every few milliseconds until it returns something; throws after `deadlineMs`. */
export async function waitFor<T>(
  what: string,
  attempt: () => Promise<T | undefined> | T | undefined,
  deadlineMs = 30_000,
): Promise<T> {
  const deadline = performance.now() + deadlineMs;
  for (;;) {
    const found = await attempt();
    if (found !== undefined) return found;
    if (performance.now() > deadline) throw new Error(`${what}: nothing after ${deadlineMs / 1000} s`);
    await delay(5);
  }
}

/** Resolves once something accepts connections there. */
export function waitForPort(port: number, host = '127.0.0.1'): Promise<true> {
  return waitFor(`port ${port}`, () => {
    return new Promise<true | undefined>((resolve) => {
      const socket = createConnection({ port, host }, () => {
        socket.destroy();
        resolve(true);
      });
      socket.once('error', () => resolve(undefined));
    });
  });
}
