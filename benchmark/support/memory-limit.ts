import { existsSync, mkdirSync, rmdirSync, writeFileSync } from 'node:fs';

/** Where control groups are mounted, which file holds the limit, and which takes processes: version 2, then 1. */
const VERSIONS = [
  { folder: '/sys/fs/cgroup', marker: 'cgroup.controllers', limit: 'memory.max' },
  { folder: '/sys/fs/cgroup/memory', marker: 'memory.limit_in_bytes', limit: 'memory.limit_in_bytes' },
] as const;

/** A control group of our own: its processes, and the page cache they fill, get this much memory. */
export class MemoryLimit {
  readonly #folder: string;

  private constructor(folder: string) {
    this.#folder = folder;
  }

  /** Undefined where control groups cannot be made (no root, or none mounted). */
  static create(bytes: number): MemoryLimit | undefined {
    const version = VERSIONS.find(({ folder, marker }) => existsSync(`${folder}/${marker}`));
    if (version === undefined) return undefined;
    const folder = `${version.folder}/wirebound-bench-${process.pid}`;
    try {
      mkdirSync(folder);
      const limit = new MemoryLimit(folder);
      process.once('exit', () => limit.remove());
      writeFileSync(`${folder}/${version.limit}`, `${bytes}`);
      return limit;
    } catch {
      return undefined;
    }
  }

  /** The command to run something in it under. */
  get under(): readonly string[] {
    return ['sh', '-c', `echo $$ > ${this.#folder}/cgroup.procs; exec "$@"`, 'sh'];
  }

  /** Removes it; its processes must have ended. */
  remove(): void {
    if (existsSync(this.#folder)) rmdirSync(this.#folder);
  }
}
