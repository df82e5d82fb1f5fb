import { lstat } from 'node:fs/promises';
import { systemCode } from '../errors.js';

/** Whether there is anything at `path`, a dangling link included. */
export async function isPresent(path: string): Promise<boolean> {
  try {
    await lstat(path);
    return true;
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return false;
    throw error;
  }
}
