import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, open, unlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * Opens an empty private file that has no name any more and is gone once it is closed. Throws the first
 * folder's error when no folder takes it.
 */
export async function openScratchFile(): Promise<FileHandle> {
  const { O_CREAT, O_EXCL, O_RDWR } = constants;
  let failure: unknown;
  for (const folder of new Set([tmpdir(), '/dev/shm', '/tmp'])) {
    const path = join(folder, `wirebound-${randomBytes(8).toString('hex')}`);
    try {
      const handle = await open(path, O_CREAT | O_EXCL | O_RDWR, 0o600);
      await unlink(path);
      return handle;
    } catch (error) {
      failure ??= error;
    }
  }
  throw failure;
}
