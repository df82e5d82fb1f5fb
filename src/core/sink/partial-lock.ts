import { lockByKernel } from './kernel-lock.js';
import { takeLockFile } from './lock-file.js';

/** Gives a lock back; a kernel lock only really ends when its file is closed, which must follow. */
export type Unlock = () => Promise<void>;

/**
 * Locks an open partial against other processes, and against other sinks of this one: by the kernel where it
 * can, otherwise through the lock file `lockPath`. Resolves to undefined while somebody else holds it.
 */
export async function lockPartial(descriptor: number, lockPath: string): Promise<Unlock | undefined> {
  switch (await lockByKernel(descriptor)) {
    case 'locked':
      return async () => {};
    case 'held':
      return undefined;
    case 'unsupported':
      return takeLockFile(lockPath);
  }
}
