import type { BigIntStats } from 'node:fs';
import { lstat } from 'node:fs/promises';
import { systemCode } from '../errors.js';

/** Whether `path` itself (not what a link there points to) is the file that `facts` were read from. */
export async function isSameFile(path: string, facts: BigIntStats): Promise<boolean> {
  try {
    const found = await lstat(path, { bigint: true });
    return found.dev === facts.dev && found.ino === facts.ino;
  } catch (error) {
    if (['ENOENT', 'ENAMETOOLONG'].includes(systemCode(error))) return false;
    throw error;
  }
}
