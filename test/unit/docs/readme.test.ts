import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { readMarkdown, sectionOf, tableRows } from '../../support/markdown.js';

interface Flag {
  readonly char?: string;
  readonly helpValue?: string;
  readonly default?: unknown;
  readonly type: 'option' | 'boolean';
}
interface Manifest {
  readonly commands: Readonly<Record<string, { readonly flags: Readonly<Record<string, Flag>> }>>;
}

const root = new URL('../../../', import.meta.url);
const read = (path: string) => readFileSync(new URL(path, root), 'utf8');
const readme = readMarkdown('README.md');
const { commands } = JSON.parse(read('oclif.manifest.json')) as Manifest;

/** How the tables write a flag. */
function written(name: string, { char, helpValue, type }: Flag): string {
  const short = char === undefined ? '' : `\`-${char}\`, `;
  return `${short}\`--${name}${type === 'option' ? ` ${helpValue}` : ''}\``;
}

function writtenDefault({ default: value, type }: Flag): string {
  return type === 'boolean' || value === undefined ? '' : `\`${value}\``;
}

describe('README.md', () => {
  test.each(['serve', 'get', 'verify'])('has every flag of %s, with its value and its default', (command) => {
    const documented = tableRows(sectionOf(readme, command)).map(([flag, value]) => `${flag} ${value}`);
    const known = Object.entries(commands[command]?.flags ?? {}).map(
      ([name, flag]) => `${written(name, flag)} ${writtenDefault(flag)}`,
    );
    expect(documented.sort()).toEqual(known.sort());
  });

  test('links to the page of every command', () => {
    for (const command of Object.keys(commands)) {
      expect(readme).toContain(`(docs/commands/${command.split(':')[0]}.md)`);
    }
  });

  test.each([
    ['serve', 'src/core/server/serve-event.ts'],
    ['get', 'src/core/client/get-event.ts'],
    ['verify', 'src/core/client/verify-event.ts'],
  ])('has every event of %s, and every field of it', (command, path) => {
    const section = sectionOf(readme, `From ${command}`);
    const known = [...read(path).matchAll(/\bevent: ('[\w.]+'(?: \| '[\w.]+')*)/g)].flatMap(
      ([, names = '']) => names.replaceAll("'", '').split(' | '),
    );
    const documented = tableRows(section).flatMap(([names = '']) => names.replaceAll('`', '').split(', '));
    expect(documented.sort()).toEqual(known.sort());
    const fields = [...read(path).matchAll(/\breadonly (\w+)\??:/g)].map(([, name]) => name);
    expect(fields.filter((name) => name !== 'event' && !section.includes(`\`${name}\``))).toEqual([]);
  });
});
