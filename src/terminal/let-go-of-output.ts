import { closeSync, fstatSync, openSync } from 'node:fs';
import { devNull } from 'node:os';

/**
 * Turns standard output and standard error, where they are files, into nothing when the process exits. For after the last
 * line: koffi flushes both to storage behind that. A log is not worth the wait, and where the flush of standard error fails (a full
 * or broken disk), koffi 3.3 waits for itself for ever.
 */
export function letGoOfOutput(): void {
  if (process.platform === 'win32') return;
  process.once('exit', () => {
    for (const descriptor of [1, 2]) {
      // Other kinds have nothing to flush, and Node gives a terminal or a pipe back as it was.
      if (!fstatSync(descriptor).isFile()) continue;
      closeSync(descriptor);
      openSync(devNull, 'w'); // POSIX: takes the lowest number that is free, the one just closed
    }
  });
}
