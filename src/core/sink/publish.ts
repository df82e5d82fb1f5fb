import { type FileHandle, link, open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { systemCode, WireBoundError } from '../errors.js';
import { escapeForTerminal } from '../escape.js';
import { isPresent } from './is-present.js';
import { isSameFile } from './is-same-file.js';
import { targetExists } from './target-exists.js';

const NO_LINKS = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK', 'EXDEV']);
const NO_FOLDER_FLUSH = new Set(['EINVAL', 'EISDIR', 'EPERM', 'EACCES', 'ENOTSUP', 'EBADF']);

/**
 * Gives the finished partial, open as `handle`, the name `target` and flushes the folder. Without `force` an
 * existing file is never replaced: SINK_EXISTS, and the partial stays. That holds even against a file that
 * appears at the same moment, except on file systems without hard links, where a check and a rename have
 * to do. With `force` whatever is at `target` is replaced in one step. Throws system errors, and SINK_FAILED when
 * the partial's path no longer leads to the file that was written.
 */
export async function publish(
  handle: FileHandle,
  partial: string,
  target: string,
  force: boolean,
): Promise<void> {
  const facts = await handle.stat({ bigint: true });
  if (!(await isSameFile(partial, facts))) {
    const shown = escapeForTerminal(partial);
    throw new WireBoundError('SINK_FAILED', `${shown} was removed or replaced while it was written`);
  }
  if (force || !(await linkTo(partial, target))) {
    if (!force && (await isPresent(target))) throw targetExists(target, partial);
    await rename(partial, target);
  } else {
    if (!(await isSameFile(target, facts))) throw targetExists(target, partial);
    await rm(partial, { force: true });
  }
  await flushFolder(dirname(target));
}

/** False where there are no hard links. An existing `target` is for the caller to judge: it may be this very file. */
async function linkTo(partial: string, target: string): Promise<boolean> {
  try {
    await link(partial, target);
  } catch (error) {
    if (NO_LINKS.has(systemCode(error))) return false;
    if (systemCode(error) !== 'EEXIST') throw error;
  }
  return true;
}

/** A folder that cannot be opened or flushed (other systems, some network mounts) is left to the system. */
async function flushFolder(folder: string): Promise<void> {
  let handle: FileHandle | undefined;
  try {
    handle = await open(folder, 'r');
    await handle.sync();
  } catch (error) {
    if (!NO_FOLDER_FLUSH.has(systemCode(error))) throw error;
  } finally {
    await handle?.close();
  }
}
