// Bundles the command line into one file, and what loads it into another: loading a few hundred modules one by one
// takes longer than the work of many a command. CommonJS, so that the loader of ES modules has to start only for
// plugins.
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { build } from 'esbuild';
import packageJson from '../package.json' with { type: 'json' };

const HERE = "const importMetaUrl=require('node:url').pathToFileURL(__filename).href;";
const RESOLVE =
  "const importMetaResolve=(name)=>require('node:url').pathToFileURL(require.resolve(name)).href;";

const options = {
  bundle: true,
  platform: 'node',
  target: 'node20',
  minifySyntax: true,
  minifyWhitespace: true,
  legalComments: 'none',
  // Native packages may be missing, and find their binaries by where they lie.
  external: [...Object.keys(packageJson.optionalDependencies), 'fast-check', 'typescript'],
  define: { 'import.meta.url': 'importMetaUrl', 'import.meta.resolve': 'importMetaResolve' },
  logLevel: 'warning',
};
await build({
  ...options,
  banner: { js: HERE },
  entryPoints: ['dist/terminal/start.js'],
  outfile: 'dist/start.cjs',
});
const { metafile } = await build({
  ...options,
  banner: { js: HERE + RESOLVE },
  entryPoints: ['dist/terminal/cli.js'],
  outfile: 'dist/cli.cjs',
  metafile: true,
});
// Code that V8 takes from its cache cannot import; see src/terminal/load-compiled.ts.
const code = await readFile('dist/cli.cjs', 'utf8');
await writeFile('dist/cli.cjs', code.replaceAll(/(?<=await |=>)import\(/g, 'importModule('));

// Whoever passes the bundle on passes these on with it.
const packages = new Set(
  Object.keys(metafile.inputs).map((path) => /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1]),
);
packages.delete(undefined);
const licenses = await Promise.all([...packages].sort().map(licenseOf));
await writeFile('dist/licenses-of-bundled-packages.txt', licenses.join('\n'));

async function licenseOf(folder) {
  const { name, version, license } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'));
  const file = (await readdir(folder)).find((entry) => /^licen[cs]e/i.test(entry));
  const text = file === undefined ? '' : await readFile(join(folder, file), 'utf8');
  return `${name} ${version}, ${license}\n\n${text}\n`;
}
