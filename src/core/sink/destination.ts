import type { Stats } from 'node:fs';
import { access, constants, lstat, stat } from 'node:fs/promises';
import { dirname, isAbsolute, join, resolve, sep } from 'node:path';
import { systemCode, WireBoundError } from '../errors.js';
import { escapeForTerminal } from '../escape.js';
import { safeName } from './safe-name.js';
import { sinkFailure } from './sink-failure.js';

/** Where a received file is to go. */
export type Destination =
  /** `path` is absolute; `exists` tells of a regular file there, of `size` bytes. */
  | { readonly kind: 'file'; readonly path: string; readonly exists: boolean; readonly size?: number }
  | { readonly kind: 'null' }
  | { readonly kind: 'stdout' };

/** What {@link resolveDestination} takes from the process unless told otherwise. */
export interface DestinationOptions {
  readonly cwd?: string;
  readonly platform?: NodeJS.Platform;
}

/**
 * What `-o OUTPUT` means: `-` is standard output, `/dev/null` (`NUL` on Windows) nothing; an existing folder, a path
 * that ends like one, or no OUTPUT at all (the current folder) is that folder with the announced name, made safe;
 * anything else is the file itself, and the announced name does not matter. Creates nothing.
 *
 * Throws USAGE for an OUTPUT that names nothing, SINK_FAILED for a folder that is missing, not a folder or not
 * writable, SINK_UNSAFE for a bad announced name and for a target that is there but not a regular file: links, pipes,
 * devices, sockets and folders are never written through nor replaced. Links on the way to the folder are followed.
 */
export async function resolveDestination(
  output: string | undefined,
  announcedName: string,
  options: DestinationOptions = {},
): Promise<Destination> {
  const platform = options.platform ?? process.platform;
  if (output === '' || output?.includes('\0')) {
    throw new WireBoundError('USAGE', '-o names no file or folder', {
      suggestions: ['-o FILE or -o FOLDER'],
    });
  }
  if (output === '-') return { kind: 'stdout' };
  if (output === '/dev/null' || (platform === 'win32' && output?.toUpperCase() === 'NUL')) {
    return { kind: 'null' };
  }
  const wanted = absolutePath(output ?? '.', options.cwd);
  const inside = output === undefined || endsLikeFolder(output) || (await isFolder(wanted));
  await requireWritableFolder(inside ? wanted : dirname(wanted));
  const path = inside ? join(wanted, safeName(announcedName, platform)) : wanted;
  const found = await factsOf(path);
  if (found === undefined) return { kind: 'file', path, exists: false };
  if (found.isFile()) return { kind: 'file', path, exists: true, size: found.size };
  throw new WireBoundError('SINK_UNSAFE', `${escapeForTerminal(path)} exists and is ${kindOf(found)}`, {
    suggestions: ['remove it or choose another -o'],
  });
}

function absolutePath(path: string, cwd: string | undefined): string {
  if (isAbsolute(path)) return resolve(path);
  try {
    return resolve(cwd ?? process.cwd(), path);
  } catch (error) {
    throw new WireBoundError('SINK_FAILED', 'the current folder does not exist any more', {
      cause: error,
      suggestions: ['change to another folder, or choose one with -o'],
    });
  }
}

function endsLikeFolder(output: string): boolean {
  const last = output.split(sep === '/' ? '/' : /[/\\]/).at(-1);
  return last === '' || last === '.' || last === '..';
}

async function isFolder(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory();
  } catch {
    // Whatever is wrong with it is found, and said, when it is looked at as a file.
    return false;
  }
}

async function requireWritableFolder(folder: string): Promise<void> {
  const shown = escapeForTerminal(folder);
  const suggestions = ['choose another place with -o'];
  try {
    const facts = await stat(folder);
    if (!facts.isDirectory())
      throw new WireBoundError('SINK_FAILED', `${shown} is not a directory`, { suggestions });
    await access(folder, constants.W_OK | constants.X_OK);
  } catch (error) {
    if (systemCode(error) !== 'ENOENT') throw sinkFailure(error, 'write to folder', folder, suggestions);
    throw new WireBoundError('SINK_FAILED', `folder ${shown} does not exist`, { suggestions });
  }
}

async function factsOf(path: string): Promise<Stats | undefined> {
  try {
    return await lstat(path);
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return undefined;
    throw sinkFailure(error, 'use', path, ['choose another name with -o FILE']);
  }
}

function kindOf(facts: Stats): string {
  if (facts.isSymbolicLink()) return 'a symbolic link';
  if (facts.isDirectory()) return 'a folder';
  if (facts.isFIFO()) return 'a named pipe';
  if (facts.isSocket()) return 'a socket';
  return 'a device';
}
