import { totalmem } from 'node:os';

/** Bytes of memory that this process may come to use: the machine's, or less where a container sets a limit. */
export function usableMemory(): number {
  // 0 where nothing is known; a number beyond all memory where there is no limit.
  const limit = process.constrainedMemory();
  return limit > 0 ? Math.min(limit, totalmem()) : totalmem();
}
