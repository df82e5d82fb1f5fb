import { readFileSync } from 'node:fs';

/**
 * Bytes of memory that a process holds for itself: pages of mapped files do not count (VmRSS would include them). Linux only.
 */
export function anonymousMemory(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/^RssAnon:\s+(\d+) kB$/m.exec(status)?.[1]) * 1024;
}
