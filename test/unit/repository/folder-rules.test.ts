import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { withTempFolder } from '../../support/temp-folder.js';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const imports = (specifier: string) => `import { x } from '${specifier}';\nexport const y = x;\n`;

/** Which folder may import what: every line is planted as a file of its own. */
const forbidden: Readonly<Record<string, readonly string[]>> = {
  'src/core/transport': [
    '../../plugins/codecs/lz4.js',
    '../../commands/serve.js',
    '../../composition.js',
    '../../terminal/base-command.js',
    '../server/session.js',
    '../client/receive.js',
    '@oclif/core',
    'tsyringe',
    'reflect-metadata',
    'cli-progress',
    '#dist/core/errors.js',
  ],
  'src/core/server': ['../client/receive.js', '../../composition.js'],
  'src/core/client': ['../server/session.js', '../../composition.js'],
  'src/plugins/codecs': [
    '../../core/server/session.js',
    '../../core/codec/codec-registry.js',
    '../../commands/serve.js',
    '../../composition.js',
    '@oclif/core',
    'tsyringe',
  ],
  'src/commands': [
    '../core/server/session.js',
    '../core/codec/codec.js',
    '../plugins/codecs/lz4.js',
    'tsyringe',
  ],
  'src/terminal': ['tsyringe'],
  src: ['reflect-metadata'],
};
const allowed: typeof forbidden = {
  'src/core/server': ['./session.js', '../codec/codec.js', '../errors.js', 'node:net'],
  'src/core/client': ['./receive.js', '../codec/codec.js', '../errors.js', 'node:net'],
  'src/plugins/codecs': ['../../core/errors.js', '../../core/plugin/plugin.js', './lz4-block.js', 'lz4-napi'],
  'src/commands': ['../core/errors.js', '../core/server/serve-event.js', '../composition.js', '@oclif/core'],
};

/** The rest: a file name, its content, and the one rule that must report it (none: it is fine). */
const others: readonly (readonly [path: string, content: string, rule?: string])[] = [
  ['src/composition.ts', imports('tsyringe')],
  ['src/commands/serve.ts', 'export default class Serve {}\n'],
  ['src/core/framing/default.ts', 'export default class Frame {}\n', 'noDefaultExport'],
  [
    'src/core/framing/cycle-a.ts',
    "import { b } from './cycle-b.js';\nexport const a = b;\n",
    'noImportCycles',
  ],
  [
    'src/core/framing/cycle-b.ts',
    "import { a } from './cycle-a.js';\nexport const b = a;\n",
    'noImportCycles',
  ],
  [
    'src/core/framing/floating.ts',
    'async function send() {}\nexport function run() {\n  send();\n}\n',
    'noFloatingPromises',
  ],
  ['src/core/framing/any.ts', 'export function f(x: any) {\n  return x;\n}\n', 'noExplicitAny'],
  ['src/core/framing/enum.ts', 'export enum E {\n  A = 1,\n}\n', 'noEnum'],
  [
    'src/core/framing/parameter.ts',
    'export class C {\n  constructor(readonly x: number) {}\n}\n',
    'noParameterProperties',
  ],
  [
    'src/core/framing/type-import.ts',
    "import { Codec } from '../codec/codec.js';\nexport type C = Codec;\n",
    'useImportType',
  ],
  ['src/core/framing/undeclared.ts', imports('left-pad'), 'noUndeclaredDependencies'],
];

const plant = (table: typeof forbidden, prefix: string, verdict: string) =>
  Object.entries(table).flatMap(([folder, specifiers]) =>
    specifiers.map((from, n) => ({
      path: `${folder}/${prefix}-${n}.ts`,
      content: imports(from),
      from,
      verdict,
    })),
  );
const bad = plant(forbidden, 'bad', 'noRestrictedImports');
const good = plant(allowed, 'good', 'fine');
const planted = [
  ...bad,
  ...good,
  ...others.map(([path, content, rule]) => ({ path, content, from: '', verdict: rule ?? 'fine' })),
];

interface Diagnostic {
  readonly category: string;
  readonly location: { readonly path: string };
}

/** Runs the project's linter configuration over a folder; path to names of the rules that were broken. */
async function lint(folder: string): Promise<Map<string, Set<string>>> {
  const biome = join(root, 'node_modules/@biomejs/biome/bin/biome');
  const output = await new Promise<string>((resolve) => {
    const args = [biome, 'lint', '--reporter=json', '--max-diagnostics=none', '.'];
    execFile(process.execPath, args, { cwd: folder, maxBuffer: 2 ** 26 }, (_, stdout) => resolve(stdout));
  });
  const { diagnostics } = JSON.parse(output) as { diagnostics: readonly Diagnostic[] };
  const broken = new Map<string, Set<string>>();
  for (const { category, location } of diagnostics) {
    const rules = broken.get(location.path) ?? new Set<string>();
    broken.set(location.path, rules.add(category.split('/').at(-1) ?? category));
  }
  return broken;
}

describe('the linter', () => {
  let broken = new Map<string, Set<string>>();

  beforeAll(async () => {
    broken = await withTempFolder(async (folder) => {
      for (const file of ['biome.json', 'package.json', '.gitignore']) {
        cpSync(join(root, file), join(folder, file));
      }
      for (const { path, content } of planted) {
        mkdirSync(dirname(join(folder, path)), { recursive: true });
        writeFileSync(join(folder, path), content);
      }
      return lint(folder);
    });
  });

  test.each(planted)('judges $path $from: $verdict', ({ path, verdict }) => {
    expect([...(broken.get(path) ?? ['fine'])]).toEqual([verdict]);
  });
});
