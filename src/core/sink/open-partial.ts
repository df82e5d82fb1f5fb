import type { BigIntStats } from 'node:fs';
import { constants, type FileHandle, lstat, open, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { systemCode, WireBoundError } from '../errors.js';
import { escapeForTerminal } from '../escape.js';
import { isPresent } from './is-present.js';
import { isSameFile } from './is-same-file.js';
import { lockPartial, type Unlock } from './partial-lock.js';
import { type PartialPaths, partialPaths } from './partial-paths.js';
import { sinkFailure } from './sink-failure.js';

const ATTEMPTS = 8;

/** A partial that is open, locked, ours, and still to be found under its path. */
export interface OpenPartial {
  readonly path: string;
  readonly handle: FileHandle;
  /** Bytes it held when it was opened; 0 for a new one. */
  readonly size: number;
  readonly unlock: Unlock;
}

/**
 * Opens the partial of `target` for reading and writing, or creates it, and locks it. Links are never followed.
 * Throws SINK_IN_USE while another get writes it, SINK_UNSAFE when what lies there is not a regular file of
 * one link that belongs to this user or to the owner of the folder, SINK_FULL or SINK_FAILED otherwise.
 */
export async function openPartial(target: string): Promise<OpenPartial> {
  let failure: unknown;
  for (const paths of partialPaths(target)) {
    try {
      return await openAt(paths, target);
    } catch (error) {
      failure = error;
      if (systemCode(error) !== 'ENAMETOOLONG') {
        throw sinkFailure(error, 'create', paths.partial, ['choose another -o']);
      }
    }
  }
  throw sinkFailure(failure, 'create a file beside', target);
}

async function openAt(paths: PartialPaths, target: string): Promise<OpenPartial> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const created = await create(paths.partial);
    const handle = created ?? (await openExisting(paths.partial));
    if (handle === undefined) continue;
    let unlock: Unlock | undefined;
    try {
      unlock = await lockPartial(handle.fd, paths.lock);
      if (unlock === undefined) throw await inUse(target, paths.lock);
      const facts = await inspect(handle, paths.partial, target);
      if (facts !== undefined) {
        if (created === undefined) await requireTrusted(facts, paths.partial);
        return { path: paths.partial, handle, size: Number(facts.size), unlock };
      }
    } catch (error) {
      await unlock?.();
      await handle.close();
      throw error;
    }
    await unlock();
    await handle.close();
  }
  throw await inUse(target, paths.lock);
}

async function create(path: string): Promise<FileHandle | undefined> {
  try {
    return await open(path, constants.O_RDWR | constants.O_CREAT | constants.O_EXCL, 0o666);
  } catch (error) {
    if (systemCode(error) === 'EEXIST') return undefined;
    throw error;
  }
}

async function openExisting(path: string): Promise<FileHandle | undefined> {
  try {
    // Before the open, because opening a device can already do something.
    if (!(await lstat(path)).isFile()) throw unsafe(path, 'is not a regular file');
    return await open(path, constants.O_RDWR | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return undefined;
    throw sinkFailure(error, 'open', path, [removeHint(path)]);
  }
}

/** The facts about a partial that may be used; undefined when its path is free or leads elsewhere by now. */
async function inspect(handle: FileHandle, path: string, target: string): Promise<BigIntStats | undefined> {
  const facts = await handle.stat({ bigint: true });
  if (!(await isSameFile(path, facts))) return undefined;
  if (facts.nlink <= 1n) return facts;
  if (!(await isSameFile(target, facts))) throw unsafe(path, 'has another name (a hard link)');
  // It was published already: the get that did so was killed between its link and its unlink.
  await rm(path, { force: true });
  return undefined;
}

/**
 * Another user's file could be changed by that user after it was verified. The owner of the folder is trusted
 * because they can replace any file in it anyhow; and some network mounts give all their files one owner.
 */
async function requireTrusted(facts: BigIntStats, path: string): Promise<void> {
  const own = process.geteuid?.();
  if (own === undefined || facts.uid === BigInt(own)) return;
  const folder = await stat(dirname(path), { bigint: true });
  if (facts.uid !== folder.uid) throw unsafe(path, 'belongs to another user');
}

function unsafe(path: string, what: string): WireBoundError {
  return new WireBoundError('SINK_UNSAFE', `${escapeForTerminal(path)} ${what}, so it is not written to`, {
    suggestions: [removeHint(path)],
  });
}

function removeHint(path: string): string {
  return `remove ${escapeForTerminal(path)} or choose another -o`;
}

async function inUse(target: string, lock: string): Promise<WireBoundError> {
  const unlock = (await isPresent(lock)) ? [`if none runs any more, remove ${escapeForTerminal(lock)}`] : [];
  return new WireBoundError('SINK_IN_USE', `another wirebound get is writing ${escapeForTerminal(target)}`, {
    suggestions: ['wait for it, or choose another -o', ...unlock],
  });
}
