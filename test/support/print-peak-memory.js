/** Preloaded into a process whose memory matters: it prints its peak resident memory in bytes when it ends. */
import { writeSync } from 'node:fs';

process.on('exit', () => {
  writeSync(1, `{"event":"peak","peakMemory":${process.resourceUsage().maxRSS * 1024}}\n`);
});
