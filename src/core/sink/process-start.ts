import { readFile } from 'node:fs/promises';
import { systemCode } from '../errors.js';

/** Stands for a start time on systems that do not tell one. */
export const UNKNOWN_START = '-';

/**
 * When process `pid` started, in a form that only serves to be compared (on Linux: clock ticks since boot, proc(5),
 * field 22), {@link UNKNOWN_START} when it runs but the system does not tell, undefined when there is none.
 */
export async function processStart(pid: number): Promise<string | undefined> {
  try {
    const stat = await readFile(`/proc/${pid}/stat`, 'latin1');
    // The second field is the program's name in parentheses and may hold anything.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return fields[0] === 'Z' || fields[0] === 'X' ? undefined : fields[19];
  } catch {
    return isRunning(pid) ? UNKNOWN_START : undefined;
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return systemCode(error) === 'EPERM';
  }
}
