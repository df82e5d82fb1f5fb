import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { systemCode, WireBoundError } from '../core/errors.js';
import { escapeForTerminal } from '../core/escape.js';
import { installedUrl } from '../core/installed-url.js';
import { ownSpecifier } from './own-specifier.js';

const ROOT = fileURLToPath(installedUrl('..'));
const SUFFIX = '.tmpl';
const NAME = /^[a-z0-9][a-z0-9-]{0,31}$/;

/** What a new plugin is to be. */
export interface CreateOptions {
  readonly kind: 'codec' | 'source';
  /** What `--codec` or the scheme will be. */
  readonly name: string;
  /** The new folder; named like the package, in the current one, unless given. */
  readonly folder?: string | undefined;
  readonly cwd: string;
}

/** What was written. */
export interface CreatedPlugin {
  readonly package: string;
  /** Absolute. */
  readonly folder: string;
  /** Paths in it. */
  readonly files: readonly string[];
}

/**
 * Writes a complete package for a plugin into a new folder: code that works, tests that pass, a README. It depends
 * on the WireBound that runs now. Throws USAGE for a bad name and for a folder that is not empty.
 */
export async function createPlugin({ kind, name, folder, cwd }: CreateOptions): Promise<CreatedPlugin> {
  if (!NAME.test(name)) {
    throw new WireBoundError(
      'USAGE',
      `"${escapeForTerminal(name)}" cannot name a ${kind}: use 1 to 32 lower-case letters, digits and hyphens`,
    );
  }
  const packageName = `wirebound-${kind}-${name}`;
  const target = resolve(cwd, folder ?? packageName);
  await requireEmpty(target);
  const values = { kind, name, package: packageName, ...(await versions(target)) };
  const files = [...(await templates('common')), ...(await templates(kind))];
  for (const { path, text } of files) {
    const file = join(target, path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, fill(text, values));
  }
  return { package: packageName, folder: target, files: files.map(({ path }) => path).sort() };
}

async function requireEmpty(folder: string): Promise<void> {
  try {
    if ((await readdir(folder)).length === 0) return;
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return;
    throw new WireBoundError('USAGE', `${escapeForTerminal(folder)} cannot be used (${systemCode(error)})`);
  }
  throw new WireBoundError('USAGE', `${escapeForTerminal(folder)} is there already and not empty`, {
    suggestions: ['choose another place with --folder'],
  });
}

async function versions(target: string): Promise<Readonly<Record<string, string>>> {
  const manifest = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')) as {
    readonly version: string;
    readonly devDependencies: Readonly<Record<string, string>>;
  };
  const dev = (name: string) => `^${(manifest.devDependencies[name] ?? '').replace(/^\D+/, '')}`;
  return {
    version: manifest.version,
    nodeTypes: dev('@types/node'),
    fastCheck: dev('fast-check'),
    typescript: dev('typescript'),
    wirebound: await ownSpecifier(ROOT, manifest.version, target),
  };
}

async function templates(kind: string): Promise<readonly { readonly path: string; readonly text: string }[]> {
  const folder = join(ROOT, 'templates', kind);
  const names = (await readdir(folder, { recursive: true })).filter((name) => name.endsWith(SUFFIX));
  return Promise.all(
    names.map(async (name) => ({
      path: name.slice(0, -SUFFIX.length),
      text: await readFile(join(folder, name), 'utf8'),
    })),
  );
}

function fill(text: string, values: Readonly<Record<string, string>>): string {
  return text.replace(/\{\{(\w+)\}\}/g, (placeholder, key: string) => values[key] ?? placeholder);
}
