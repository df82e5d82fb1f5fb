import type { Stats } from 'node:fs';

/** Whether a file or folder belongs to this user and nobody else may write to it; always, on Windows. */
export function isPrivate(found: Stats): boolean {
  if (process.getuid === undefined) return true;
  return found.uid === process.getuid() && (found.mode & 0o022) === 0;
}
