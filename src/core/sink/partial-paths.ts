import { createHash } from 'node:crypto';
import { basename, dirname, join } from 'node:path';
import { cutText } from './cut-text.js';

/** Where the unfinished form of a file lives, and the lock file that may guard it. */
export interface PartialPaths {
  readonly partial: string;
  readonly lock: string;
}

/** The name limit of nearly every file system, and of those that encrypt names (eCryptfs). */
const NAME_LIMITS = [255, 143];

/**
 * `NAME.wirebound` and `NAME.wirebound.lock` beside `target`, to be tried in this order while the file system finds
 * a name too long. Where a name does not fit, NAME is cut and a short digest of the whole of it added, so that two
 * long names do not share a partial.
 */
export function partialPaths(target: string): PartialPaths[] {
  const folder = dirname(target);
  const name = basename(target);
  return NAME_LIMITS.map((limit) => ({
    partial: join(folder, fitName(name, '.wirebound', limit)),
    lock: join(folder, fitName(name, '.wirebound.lock', limit)),
  }));
}

function fitName(name: string, suffix: string, maxBytes: number): string {
  if (Buffer.byteLength(name + suffix) <= maxBytes) return name + suffix;
  const tail = `~${createHash('sha256').update(name).digest('hex').slice(0, 8)}${suffix}`;
  return cutText(name, maxBytes - tail.length) + tail;
}
