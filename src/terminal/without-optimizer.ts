import { setFlagsFromString } from 'node:v8';

/**
 * Runs work whose JavaScript only hands bytes on between native code, without V8's optimizing compiler: what that
 * compiles in a transfer of a gigabyte costs 100 ms of the cores that hash and copy, and saves less. For the whole
 * process: not while somebody's codec may have its loops in JavaScript.
 */
export async function withoutOptimizer<T>(work: () => Promise<T>): Promise<T> {
  setFlagsFromString('--no-opt');
  try {
    return await work();
  } finally {
    setFlagsFromString('--opt'); // kept code fits only the flags that it was compiled under
  }
}
