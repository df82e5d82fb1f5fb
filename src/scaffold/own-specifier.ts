import { readFile } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';

/**
 * How a package in `target` depends on the WireBound that lies in `root`: by its version where npm installed it from
 * a registry, by the same tarball where it came from one, otherwise (a checkout, a global installation) by its folder.
 */
export async function ownSpecifier(root: string, version: string, target: string): Promise<string> {
  const byPath = (path: string) => `file:${relative(target, path).split(sep).join('/')}`;
  const here = resolve(root);
  const modules = dirname(here);
  if (basename(modules) !== 'node_modules') return byPath(here);
  const installed = await installedFrom(modules, basename(here));
  if (installed === undefined) return byPath(here);
  const tarball = /^file:(.*\.tgz)$/.exec(installed)?.[1];
  return tarball === undefined ? `^${version}` : byPath(resolve(dirname(modules), tarball));
}

/** What npm noted as the origin of a package: '' where it was a registry, undefined where it kept no note. */
async function installedFrom(modules: string, name: string): Promise<string | undefined> {
  try {
    const lock = JSON.parse(await readFile(join(modules, '.package-lock.json'), 'utf8')) as {
      readonly packages?: Readonly<Record<string, { readonly resolved?: string } | undefined>>;
    };
    const entry = lock.packages?.[`node_modules/${name}`];
    return entry && (entry.resolved ?? '');
  } catch {
    return undefined;
  }
}
