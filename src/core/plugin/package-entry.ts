import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** The oclif hook that returns a plugin. */
export const PLUGIN_HOOK = 'wirebound:plugin';

/** Conditions of `exports` that hold here, as Node has them for `import`. */
const CONDITIONS = new Set(['node', 'import', 'default', 'node-addons']);

/**
 * The path of the module that makes a package a plugin: its oclif hook `wirebound:plugin` where it has one,
 * otherwise what `import` of the package would load. Throws, in words for people, when there is none.
 */
export function packageEntry(folder: string): string {
  const manifest = readManifest(folder);
  const { exports, main, oclif } = manifest as {
    readonly exports?: unknown;
    readonly main?: unknown;
    readonly oclif?: { readonly hooks?: Readonly<Record<string, unknown>> };
  };
  const entry = hookTarget(oclif?.hooks?.[PLUGIN_HOOK]) ?? exportTarget(exports) ?? main ?? 'index.js';
  const candidates = [String(entry), `${entry}.js`];
  const path = candidates.map((name) => join(folder, name)).find(isFile);
  if (path !== undefined) return path;
  throw new Error(`${join(folder, String(entry))} does not exist; has the package been built?`);
}

function readManifest(folder: string): object {
  let text: string;
  try {
    text = readFileSync(join(folder, 'package.json'), 'utf8');
  } catch {
    throw new Error(`${folder} has no package.json that can be read`);
  }
  try {
    return Object(JSON.parse(text)) as object;
  } catch {
    throw new Error(`${join(folder, 'package.json')} is not JSON`);
  }
}

/** oclif takes a path, `{ target }`, or a list of these. */
function hookTarget(hook: unknown): string | undefined {
  const [first] = [hook].flat() as readonly unknown[];
  if (typeof first === 'string') return first;
  const target = (first as { target?: unknown } | null | undefined)?.target;
  return typeof target === 'string' ? target : undefined;
}

function exportTarget(exports: unknown): string | undefined {
  if (typeof exports === 'string') return exports;
  if (Array.isArray(exports)) return exports.map(exportTarget).find((target) => target !== undefined);
  if (typeof exports !== 'object' || exports === null) return undefined;
  if ('.' in exports) return exportTarget(exports['.']);
  for (const [condition, target] of Object.entries(exports)) {
    const found = CONDITIONS.has(condition) ? exportTarget(target) : undefined;
    if (found !== undefined) return found;
  }
  return undefined;
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
}
