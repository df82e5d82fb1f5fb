/** `npm run bench:docs`: puts the kept results into the documents, between their markers. */
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { fillMarkers } from './documents/fill-markers.js';
import { makeSections } from './documents/sections.js';
import { ROOT } from './support/root.js';
import { runBenchmark } from './support/run-benchmark.js';

const DOCUMENTS = ['README.md', 'docs/benchmarks.md', 'docs/writeup.md'];

await runBenchmark(async () => {
  const sections = makeSections();
  for (const name of DOCUMENTS) {
    const url = new URL(name, ROOT);
    if (!existsSync(url)) continue;
    const before = await readFile(url, 'utf8');
    const after = fillMarkers(before, sections);
    if (after !== before) await writeFile(url, after);
    console.log(`${name}: ${after === before ? 'unchanged' : 'filled'}`);
  }
});
