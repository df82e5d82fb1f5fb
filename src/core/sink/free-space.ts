import { statfs } from 'node:fs/promises';
import { WireBoundError } from '../errors.js';
import { escapeForTerminal } from '../escape.js';
import { sinkFailure } from './sink-failure.js';

/**
 * Throws SINK_FULL when `folder`'s file system says that fewer than `bytes` bytes are available to this user.
 * A file system that counts no blocks (ramfs) does not know its room and is given the benefit of the doubt.
 */
export async function requireFreeSpace(folder: string, bytes: number): Promise<void> {
  const { blocks, bavail, bsize } = await statfs(folder).catch((error: unknown) => {
    throw sinkFailure(error, 'find out the free space of', folder);
  });
  const available = bavail * bsize;
  if (blocks === 0 || available >= bytes) return;
  throw new WireBoundError(
    'SINK_FULL',
    `not enough room in ${escapeForTerminal(folder)}: ${bytes} bytes are needed, ${available} are available`,
    {
      suggestions: [
        'free some space or choose another folder with -o',
        'verify without keeping: -o /dev/null',
      ],
    },
  );
}
