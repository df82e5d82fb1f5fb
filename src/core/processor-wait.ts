import { openSync, readSync } from 'node:fs';

/** Two numbers and a space come first: nanoseconds on a processor, and nanoseconds of waiting for one. */
const SCHEDULE = '/proc/self/schedstat';
const content = Buffer.alloc(64);
let descriptor: number | undefined;

/**
 * For how long this process's main thread has been ready to run and had no processor, milliseconds; always 0 where the
 * system does not tell (it is Linux that does, proc_pid_schedstat(5)). A few microseconds.
 */
export function processorWaitMs(): number {
  try {
    descriptor ??= process.platform === 'linux' ? openSync(SCHEDULE, 'r') : -1;
    if (descriptor < 0) return 0;
    const length = readSync(descriptor, content, 0, content.length, 0);
    return Number(content.toString('latin1', 0, length).split(' ')[1]) / 1e6;
  } catch {
    descriptor = -1;
    return 0;
  }
}
