import { createHash, randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { lstat, mkdir, open, readdir, rename, stat, unlink } from 'node:fs/promises';
import { isAbsolute, join } from 'node:path';
import { systemCode, WireBoundError } from '../errors.js';
import { ChainFile } from './chain-file.js';
import { isPrivate } from './is-private.js';

const DEFAULT_MAX_BYTES = 256 * 1024 * 1024;
const STALE_AFTER_MS = 60 * 60 * 1000;
const CHAIN_NAME = /^[0-9a-f]{64}\.chain$/;
const TEMP_NAME = /^[0-9a-f]{64}\.\d+-[0-9a-f]{16}\.tmp$/;

/** Limits of a {@link ChainCache}. */
export interface ChainCacheOptions {
  /** Bytes of all chains together; 256 MiB unless told. A chain that is larger by itself is not kept. */
  readonly maxBytes?: number;
}

/**
 * Complete prefix-digest chains on disk, so that a file that was served before starts with its digest known. One
 * {@link ChainFile} per identity key and chunk size, named `sha256(key NUL chunkSize).chain`.
 *
 * A cache may lose what it holds, but it never lies and never fails its caller: whatever is not exactly what was
 * stored is treated as absent and removed, and no error of the file system leaves this class. The folder (an
 * absolute path) is made when it is missing, for its owner alone; one that belongs to somebody else, or that others
 * can write to, is not used. Several processes may use it at once. Which files are worth keeping, the caller decides.
 */
export class ChainCache {
  readonly #folder: string;
  readonly #maxBytes: number;

  constructor(folder: string, options: ChainCacheOptions = {}) {
    this.#folder = folder;
    this.#maxBytes = options.maxBytes ?? DEFAULT_MAX_BYTES;
  }

  /**
   * The chain, 32 bytes per chunk in memory of its own, or undefined when it is not there. Marks it as used.
   * `identityKey` and `size` (bytes) are those of the file as it is now.
   */
  async load(identityKey: string, size: number, chunkSize: number): Promise<Uint8Array | undefined> {
    if (!(await this.#isFolderUsable())) return undefined;
    const path = this.#pathOf(identityKey, chunkSize);
    try {
      const chain = await readPrivately(path, new ChainFile({ identityKey, size, chunkSize }));
      if (chain === undefined) await removeQuietly(path);
      return chain;
    } catch (error) {
      // Running out of descriptors says nothing about the file.
      if (!['EMFILE', 'ENFILE'].includes(systemCode(error))) await removeQuietly(path);
      return undefined;
    }
  }

  /**
   * Keeps a complete chain, replacing an older one as a whole or not at all, and drops the chains unused for
   * longest beyond the limit. Resolves to whether it was kept. Rejects (INTERNAL) only when `chain` does not have
   * the length that `size` and `chunkSize` call for.
   */
  async store(identityKey: string, size: number, chunkSize: number, chain: Uint8Array): Promise<boolean> {
    const format = new ChainFile({ identityKey, size, chunkSize });
    if (chain.length !== format.chainLength) {
      const message = `a chain of ${chain.length} bytes where ${format.chainLength} belong`;
      throw new WireBoundError('INTERNAL', message);
    }
    if (format.length > this.#maxBytes) return false;
    try {
      if (isAbsolute(this.#folder)) await mkdir(this.#folder, { recursive: true, mode: 0o700 });
      if (!(await this.#isFolderUsable())) return false;
      await replaceWhole(this.#pathOf(identityKey, chunkSize), format, chain);
      await this.#evict();
      return true;
    } catch {
      return false;
    }
  }

  /** Forgets the chain of this key and chunk size, if there is one. */
  async remove(identityKey: string, chunkSize: number): Promise<void> {
    if (await this.#isFolderUsable()) await removeQuietly(this.#pathOf(identityKey, chunkSize));
  }

  #pathOf(identityKey: string, chunkSize: number): string {
    const name = createHash('sha256').update(`${identityKey}\0${chunkSize}`).digest('hex');
    return join(this.#folder, `${name}.chain`);
  }

  async #isFolderUsable(): Promise<boolean> {
    // An empty HOME makes a relative path, and that would litter whatever the current folder is.
    if (!isAbsolute(this.#folder)) return false;
    const found = await stat(this.#folder).catch(() => undefined);
    return found?.isDirectory() === true && isPrivate(found);
  }

  /** Removes temporary files of dead runs, then the chains unused for longest until the others fit. */
  async #evict(): Promise<void> {
    const chains: { readonly path: string; readonly size: number; readonly unusedMs: number }[] = [];
    for (const name of await readdir(this.#folder).catch(() => [])) {
      const path = join(this.#folder, name);
      const found = await lstat(path).catch(() => undefined);
      if (found === undefined) continue;
      // A date in the future (a clock that was wrong once) must not keep a file for ever.
      const unusedMs = Math.abs(Date.now() - found.mtimeMs);
      if (CHAIN_NAME.test(name)) chains.push({ path, size: found.size, unusedMs });
      else if (TEMP_NAME.test(name) && unusedMs > STALE_AFTER_MS) await removeQuietly(path);
    }
    chains.sort((a, b) => a.unusedMs - b.unusedMs);
    let total = 0;
    for (const { path, size } of chains) {
      total += size;
      if (total > this.#maxBytes) await removeQuietly(path);
    }
  }
}

async function readPrivately(path: string, format: ChainFile): Promise<Uint8Array | undefined> {
  // Neither flag is there on Windows. O_NONBLOCK, because opening a pipe would wait for a writer.
  const flags = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
  const file = await open(path, flags);
  try {
    const found = await file.stat();
    const chain = found.isFile() && isPrivate(found) ? await format.read(file) : undefined;
    const now = new Date();
    if (chain !== undefined) await file.utimes(now, now).catch(() => undefined);
    return chain;
  } finally {
    await file.close();
  }
}

/** Writes under a name of its own, flushes, renames: nobody reads half a chain, and no planted link is followed. */
async function replaceWhole(path: string, format: ChainFile, chain: Uint8Array): Promise<void> {
  const tempPath = path.replace(/chain$/, `${process.pid}-${randomBytes(8).toString('hex')}.tmp`);
  const file = await open(tempPath, 'wx', 0o600);
  try {
    await format.write(file, chain);
    await file.sync();
    await file.close();
    await rename(tempPath, path);
  } catch (error) {
    await file.close().catch(() => undefined);
    await removeQuietly(tempPath);
    throw error;
  }
}

async function removeQuietly(path: string): Promise<void> {
  await unlink(path).catch(() => undefined);
}
