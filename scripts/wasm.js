// Assembles the WebAssembly text in src/ into binaries beside the compiled modules that load them.
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import loadWabt from 'wabt';

const wabt = await loadWabt();
for (const path of await readdir('src', { recursive: true })) {
  if (!path.endsWith('.wat')) continue;
  const module = wabt.parseWat(path, await readFile(join('src', path), 'utf8'), { simd: true });
  module.validate();
  await writeFile(join('dist', path.replace(/\.wat$/, '.wasm')), module.toBinary({}).buffer);
}
