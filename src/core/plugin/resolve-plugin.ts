import { statSync } from 'node:fs';
import { isAbsolute, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { causeLine } from '../cause-line.js';
import { WireBoundError } from '../errors.js';
import { escapeForTerminal } from '../escape.js';

/**
 * The URL of a plugin module; a worker thread can import the same module by it. `specifier` is a URL, a path
 * (absolute, beginning with `.`, or naming an existing file; resolved against the current folder), or the name
 * of a package installed where WireBound finds its own. Throws PLUGIN_FAILED when there is no such package.
 */
export function resolvePlugin(specifier: string): string {
  // Two letters at least: `C:\x.js` is a path.
  if (/^[a-z][a-z0-9+.-]+:/i.test(specifier)) return specifier;
  try {
    if (isPath(specifier)) return pathToFileURL(resolve(specifier)).href;
    return import.meta.resolve(specifier);
  } catch (error) {
    const message = `plugin ${escapeForTerminal(specifier)} cannot be found: ${causeLine(error)}`;
    throw new WireBoundError('PLUGIN_FAILED', message, {
      cause: error,
      suggestions: ['name a file by its path (./my-codec.js), or install the package beside wirebound'],
    });
  }
}

function isPath(specifier: string): boolean {
  if (isAbsolute(specifier) || specifier.startsWith('.')) return true;
  return statSync(specifier, { throwIfNoEntry: false })?.isFile() ?? false;
}
