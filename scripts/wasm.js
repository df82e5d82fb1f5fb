// Assembles the WebAssembly text in src/ into binaries: beside the compiled modules that load them, and in dist/ itself,
// beside the bundle that these modules are in too.
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import loadWabt from 'wabt';

const wabt = await loadWabt();
for (const path of await readdir('src', { recursive: true })) {
  if (!path.endsWith('.wat')) continue;
  const module = wabt.parseWat(path, await readFile(join('src', path), 'utf8'), { simd: true });
  module.validate();
  const { buffer } = module.toBinary({});
  const target = path.replace(/\.wat$/, '.wasm');
  await writeFile(join('dist', target), buffer);
  await writeFile(join('dist', basename(target)), buffer);
}
