import { lstat, rm } from 'node:fs/promises';
import { isSameFile } from './is-same-file.js';
import { partialPaths } from './partial-paths.js';
import { sinkFailure } from './sink-failure.js';

/**
 * Tidies up after a get that was killed between publishing `target` and removing its partial name: both names then
 * are one file, and only the partial name goes. Call it for a target that turned out to be complete already.
 * Does nothing in every other case, and is harmless beside a get that is just publishing.
 */
export async function removePublishedPartial(target: string): Promise<void> {
  try {
    const facts = await lstat(target, { bigint: true });
    if (facts.nlink < 2n) return;
    for (const { partial } of partialPaths(target)) {
      if (await isSameFile(partial, facts)) await rm(partial, { force: true });
    }
  } catch (error) {
    throw sinkFailure(error, 'tidy up beside', target);
  }
}
