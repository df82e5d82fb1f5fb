import { statSync } from 'node:fs';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { causeLine } from '../cause-line.js';
import { WireBoundError } from '../errors.js';
import { escapeForTerminal } from '../escape.js';
import { installedUrl } from '../installed-url.js';
import { packageEntry } from './package-entry.js';

/** Where WireBound itself lies: packages installed beside it are found from here. */
const HOME = dirname(fileURLToPath(installedUrl('.')));

/** Where {@link resolvePlugin} looks. */
export interface ResolveOptions {
  /** Relative paths start here; the current folder unless given. */
  readonly folder?: string;
  /** Packages that are not installed beside WireBound are looked for from here upwards. */
  readonly packagesFrom?: string;
}

/**
 * The URL of a plugin module; a worker thread can import the same module by it. `specifier` is a URL, a path (it
 * is absolute or begins with `.`) of a module or of a package's folder, or the name of a package. A name alone is
 * never a file: what lies in the current folder may have come from the network. Throws PLUGIN_FAILED when there is
 * no such thing.
 */
export function resolvePlugin(specifier: string, options: ResolveOptions = {}): string {
  // Two letters at least: `C:\x.js` is a path.
  if (/^[a-z][a-z0-9+.-]+:/i.test(specifier)) return specifier;
  const { folder = process.cwd(), packagesFrom } = options;
  try {
    if (isPath(specifier)) return moduleAt(resolve(folder, specifier));
    return packageNamed(specifier, packagesFrom === undefined ? [HOME] : [HOME, packagesFrom]);
  } catch (error) {
    const message = `plugin ${escapeForTerminal(specifier)} cannot be found: ${causeLine(error)}`;
    const isFile = !isPath(specifier) && exists(resolve(folder, specifier));
    throw new WireBoundError('PLUGIN_FAILED', message, {
      cause: error,
      suggestions: [
        isFile
          ? `a file is named by its path: ./${escapeForTerminal(specifier)}`
          : 'name a file or a folder by its path (./my-codec), or install the package beside wirebound',
      ],
    });
  }
}

function isPath(specifier: string): boolean {
  return isAbsolute(specifier) || specifier.startsWith('.');
}

function moduleAt(path: string): string {
  const isFolder = statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
  return pathToFileURL(isFolder ? packageEntry(path) : path).href;
}

/** Looks through every node_modules from the given folders upwards, as Node does. */
function packageNamed(name: string, starts: readonly string[]): string {
  for (const start of starts) {
    for (let folder = start; ; folder = dirname(folder)) {
      const candidate = join(folder, 'node_modules', name);
      if (exists(join(candidate, 'package.json'))) return moduleAt(candidate);
      if (folder === dirname(folder)) break;
    }
  }
  const isWhole = /^(?:@[^/]+\/)?[^/]+$/.test(name);
  if (isWhole) throw new Error(`no package '${name}' is installed`);
  return import.meta.resolve(name); // a module inside a package
}

function exists(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false }) !== undefined;
}
