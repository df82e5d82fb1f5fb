// Bundles the command line into one file, and what loads it into another: loading a few hundred modules one by one
// takes longer than the work of many a command. CommonJS, so that the loader of ES modules has to start only for
// plugins.
import { readFile, writeFile } from 'node:fs/promises';
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
await build({
  ...options,
  banner: { js: HERE + RESOLVE },
  entryPoints: ['dist/terminal/cli.js'],
  outfile: 'dist/cli.cjs',
});
// Code that V8 takes from its cache cannot import; see src/terminal/load-compiled.ts.
const code = await readFile('dist/cli.cjs', 'utf8');
await writeFile('dist/cli.cjs', code.replaceAll(/(?<=await |=>)import\(/g, 'importModule('));
