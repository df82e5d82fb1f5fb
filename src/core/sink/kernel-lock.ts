import { constants } from 'node:os';
import { loadLibcFunction } from '../libc-function.js';

/** What became of an attempt to lock; `unsupported` when this machine or file system has no such locks. */
export type KernelLockResult = 'locked' | 'held' | 'unsupported';

const LOCK_EX = 2;
const LOCK_NB = 4;

type Flock = (descriptor: number) => KernelLockResult;
let loading: Promise<Flock | undefined> | undefined;

/**
 * Tries once to take `flock(2)`'s exclusive lock on an open file; it ends when the file is closed, or with the
 * process, however that ends. Reached through koffi, an optional package: without it locks are unsupported.
 */
export async function lockByKernel(descriptor: number): Promise<KernelLockResult> {
  loading ??= loadFlock();
  const flock = await loading;
  return flock === undefined ? 'unsupported' : flock(descriptor);
}

async function loadFlock(): Promise<Flock | undefined> {
  const flock = await loadLibcFunction('int flock(int fd, int operation)');
  if (flock === undefined) return undefined;
  return (descriptor) => {
    if (flock.call(descriptor, LOCK_EX | LOCK_NB) === 0) return 'locked';
    return flock.errno() === constants.errno.EWOULDBLOCK ? 'held' : 'unsupported';
  };
}
