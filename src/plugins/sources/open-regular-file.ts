import { type BigIntStats, constants } from 'node:fs';
import { type FileHandle, open, stat } from 'node:fs/promises';
import { basename, resolve } from 'node:path';
import { systemCode, WireBoundError } from '../../core/errors.js';
import type { OpenOptions } from '../../core/source/chunk-source.js';
import { quotePath } from './quote-path.js';
import { refuseMadeUpFile } from './refuse-made-up-file.js';
import { refuseSpecialFile } from './refuse-special-file.js';
import { RegularFile } from './regular-file.js';

/**
 * Opens a regular file for reading and nothing else; symbolic links are followed. The caller closes it.
 * Throws SOURCE_NOT_FOUND, SOURCE_UNREADABLE or SOURCE_NOT_REGULAR.
 */
export async function openRegularFile(
  reference: string,
  options: Pick<OpenOptions, 'name'>,
): Promise<RegularFile> {
  const path = resolve(reference);
  // Opening a pipe waits for its other end, so look first; the descriptor must then agree.
  refuseSpecialFile(reference, await examine(reference, () => statOf(reference, path)));
  const flags = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);
  const handle = await examine(reference, () => open(path, flags));
  try {
    const stats: BigIntStats = await examine(reference, () => handle.stat({ bigint: true }));
    refuseSpecialFile(reference, stats);
    if (stats.size > BigInt(Number.MAX_SAFE_INTEGER)) {
      throw new WireBoundError('SOURCE_UNREADABLE', `${quotePath(reference)} claims ${stats.size} bytes`);
    }
    await refuseMadeUpFile(reference, stats, handle);
    return new RegularFile(reference, options.name ?? basename(path), handle, stats);
  } catch (error) {
    await closeQuietly(handle);
    throw error;
  }
}

function statOf(reference: string, path: string): Promise<BigIntStats> {
  // resolve('') is the current folder; nobody means that.
  return stat(reference === '' ? reference : path, { bigint: true });
}

async function closeQuietly(handle: FileHandle): Promise<void> {
  try {
    await handle.close();
  } catch {
    // The first failure is the one that matters.
  }
}

async function examine<T>(reference: string, call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    throw openFailure(reference, error);
  }
}

function openFailure(reference: string, error: unknown): WireBoundError {
  const path = quotePath(reference);
  const code = systemCode(error);
  switch (code) {
    case 'ENOENT':
    case 'ENOTDIR':
    case 'ERR_INVALID_ARG_VALUE':
      return new WireBoundError('SOURCE_NOT_FOUND', `${path} does not exist`, { cause: error });
    case 'ELOOP':
      return new WireBoundError('SOURCE_NOT_REGULAR', `${path} is a loop of symbolic links`, {
        cause: error,
      });
    case 'EACCES':
    case 'EPERM':
      return new WireBoundError('SOURCE_UNREADABLE', `${path} may not be read by this user (${code})`, {
        cause: error,
      });
    case 'ENXIO':
      return new WireBoundError('SOURCE_NOT_REGULAR', `${path} is a socket or a device, not a regular file`, {
        cause: error,
      });
    default:
      return new WireBoundError('SOURCE_UNREADABLE', `${path} cannot be opened (${code || String(error)})`, {
        cause: error,
      });
  }
}
