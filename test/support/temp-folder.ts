import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * Calls `use` with the path of a fresh, empty folder and removes the folder and everything in it when the
 * promise settles, whichever way. The path has no symbolic links in it.
 */
export async function withTempFolder<T>(use: (folder: string) => Promise<T>): Promise<T> {
  const { path, remove } = await makeTempFolder();
  try {
    return await use(path);
  } finally {
    await remove();
  }
}

/** A fresh, empty folder for tests that share one; `remove` it in `afterEach` or `afterAll`. */
export async function makeTempFolder(): Promise<{ readonly path: string; remove(): Promise<void> }> {
  const path = await realpath(await mkdtemp(join(tmpdir(), 'wirebound-test-')));
  return { path, remove: () => rm(path, { recursive: true, force: true, maxRetries: 3 }) };
}
