import { readFileSync } from 'node:fs';

const INTERVAL_MS = 50;
const KIB = 1024;

/** The most memory a process has had, bytes. */
export interface MemoryPeak {
  /** Resident; of a server that maps its file, mapped pages count too. */
  readonly resident: number;
  /** Anonymous: its own, which no file backs. */
  readonly anonymous: number;
}

/** Looks at the memory of processes until it is stopped. */
export class MemoryWatch {
  readonly #peaks = new Map<number, MemoryPeak>();
  readonly #timer: NodeJS.Timeout;

  constructor(pids: readonly number[]) {
    for (const pid of pids) this.#peaks.set(pid, { resident: 0, anonymous: 0 });
    this.#look();
    this.#timer = setInterval(() => this.#look(), INTERVAL_MS);
  }

  /** Peaks in the order of the pids. `resident` is the kernel's own high-water mark as of the last look. */
  stop(): readonly MemoryPeak[] {
    this.#look();
    clearInterval(this.#timer);
    return [...this.#peaks.values()];
  }

  #look(): void {
    for (const [pid, peak] of this.#peaks) {
      const now = readMemory(pid);
      this.#peaks.set(pid, {
        resident: Math.max(peak.resident, now.resident),
        anonymous: Math.max(peak.anonymous, now.anonymous),
      });
    }
  }
}

/** The high-water mark of resident memory and the present anonymous memory; zeros when the process is gone. */
function readMemory(pid: number): MemoryPeak {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    const field = (name: string) =>
      Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1] ?? 0) * KIB;
    return { resident: field('VmHWM'), anonymous: field('RssAnon') + field('RssShmem') };
  } catch {
    return { resident: 0, anonymous: 0 };
  }
}
