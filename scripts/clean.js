// Removes what was built.
import { readdirSync, rmSync } from 'node:fs';

const packages = readdirSync('packages', { withFileTypes: true }).filter((entry) => entry.isDirectory());
for (const folder of ['.', ...packages.map(({ name }) => `packages/${name}`)]) {
  rmSync(`${folder}/dist`, { recursive: true, force: true });
}
