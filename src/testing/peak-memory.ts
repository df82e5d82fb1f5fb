import { readFileSync } from 'node:fs';

/**
 * The most memory this process ever had, bytes. On Linux it counts address space, so that an allocation shows even
 * when nothing was written to it; elsewhere resident memory.
 */
export function peakMemory(): number {
  if (process.platform !== 'linux') return process.resourceUsage().maxRSS * 1024;
  const kib = /^VmPeak:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1];
  return Number(kib) * 1024;
}
