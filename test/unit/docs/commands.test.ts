import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from '@jest/globals';
import { runCli } from '../../support/run-cli.js';
import { withTempFolder } from '../../support/temp-folder.js';

const root = fileURLToPath(new URL('../../..', import.meta.url));

function pages(folder: string): Record<string, string> {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.md'),
  );
  return Object.fromEntries(names.map((name) => [name, readFileSync(join(folder, name), 'utf8')]));
}

test('docs/commands is what `npm run docs` makes of the commands', async () => {
  await withTempFolder(async (folder) => {
    const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
    const [, flags = ''] = /readme (.*) --output-dir docs\/commands$/.exec(scripts.docs) ?? [];
    writeFileSync(join(folder, 'README.md'), '');
    const output = ['--output-dir', relative(root, folder)];
    const readme = ['--readme-path', relative(root, join(folder, 'README.md'))];
    const { exitCode, stderr } = await runCli(['readme', ...flags.split(' '), ...output, ...readme], {
      script: join(root, 'scripts/oclif.js'),
      cwd: root,
    });
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    const { 'README.md': _, ...generated } = pages(folder);
    expect(pages(join(root, 'docs/commands'))).toEqual(generated);
  });
});
