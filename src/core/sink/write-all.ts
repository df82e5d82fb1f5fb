import type { FileHandle } from 'node:fs/promises';

/** IOV_MAX of Linux and macOS: a writev of more spans is refused. */
const MAX_SPANS = 1024;

/** What a write that took no byte and told no reason amounts to: there is no room. */
function noRoom(): NodeJS.ErrnoException {
  return Object.assign(new Error('write took 0 bytes'), { code: 'ENOSPC' });
}

/**
 * Writes every byte of `spans`, one after another from `offset` on, however often the system takes only a part
 * (short counts come without an error: a full disk, a limit, a signal). Throws the system's error.
 */
export async function writeAll(
  handle: Pick<FileHandle, 'writev'>,
  spans: readonly Uint8Array[],
  offset: number,
): Promise<void> {
  const rest = spans.filter((span) => span.length > 0);
  let position = offset;
  let next = 0;
  while (next < rest.length) {
    const { bytesWritten } = await handle.writev(rest.slice(next, next + MAX_SPANS), position);
    if (bytesWritten === 0) throw noRoom();
    position += bytesWritten;
    let taken = bytesWritten;
    for (let span = rest[next]; span !== undefined && taken > 0; span = rest[next]) {
      if (taken < span.length) {
        rest[next] = span.subarray(taken);
        break;
      }
      taken -= span.length;
      next++;
    }
  }
}
