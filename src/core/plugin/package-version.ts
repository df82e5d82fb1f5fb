import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The version of the package that the module at `url` belongs to; undefined where there is none. */
export function packageVersion(url: string): string | undefined {
  if (!url.startsWith('file:')) return undefined;
  for (let folder = dirname(fileURLToPath(url)); ; folder = dirname(folder)) {
    const version = versionIn(join(folder, 'package.json'));
    if (version !== undefined || folder === dirname(folder)) return version;
  }
}

function versionIn(manifest: string): string | undefined {
  try {
    const { version } = JSON.parse(readFileSync(manifest, 'utf8')) as { readonly version?: unknown };
    return typeof version === 'string' ? version : undefined;
  } catch {
    return undefined;
  }
}
