import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Folders of one benchmark run, removed with everything in them when it ends, Ctrl+C included. */
export interface Workspace {
  /** On a disk: what is served, and configurations. */
  readonly disk: string;
  /** In memory where the machine has `/dev/shm`: what is received. */
  readonly memory: string;
  /** Removes what was received so far. */
  clearMemory(): Promise<void>;
}

/** Makes the folders, calls `use`, and removes them whichever way it ends. `disk` is the parent for files to serve. */
export async function withWorkspace<T>(
  use: (workspace: Workspace) => Promise<T>,
  disk = tmpdir(),
): Promise<T> {
  const folders = [disk, existsSync('/dev/shm') ? '/dev/shm' : tmpdir()].map((parent) => {
    mkdirSync(parent, { recursive: true });
    return mkdtempSync(join(parent, 'wirebound-bench-'));
  });
  const [onDisk = '', inMemory = ''] = folders;
  const remove = () => {
    for (const folder of folders) rmSync(folder, { recursive: true, force: true });
  };
  const stop = () => process.exit(130);
  process.once('exit', remove).once('SIGINT', stop).once('SIGTERM', stop);
  const clearMemory = async () => {
    await rm(inMemory, { recursive: true, force: true });
    await mkdir(inMemory);
  };
  try {
    return await use({ disk: onDisk, memory: inMemory, clearMemory });
  } finally {
    remove();
    process.off('exit', remove).off('SIGINT', stop).off('SIGTERM', stop);
  }
}
