import { relative } from 'node:path';
import { escapeForTerminal } from '../core/escape.js';
import type { CreatedPlugin } from '../scaffold/create-plugin.js';
import { formatJsonLine } from './json-lines.js';
import type { ReportOptions } from './report.js';
import type { Terminal } from './terminal.js';

/** A new package, and what it is for. */
export interface CreatedReport extends CreatedPlugin {
  readonly kind: 'codec' | 'source';
  readonly name: string;
}

/** Says what was made and how to go on. */
export function reportCreated(
  terminal: Terminal,
  created: CreatedReport,
  { json, quiet }: ReportOptions,
): void {
  if (json) terminal.stdout.write(formatJsonLine({ event: 'created', ...created }));
  if (json || quiet) return;
  const { kind, name, folder, files } = created;
  const path = escapeForTerminal(relative(process.cwd(), folder) || '.');
  const use =
    kind === 'codec'
      ? `npx wirebound serve FILE --plugin . --codec ${name}`
      : `npx wirebound serve ${name}:///path/to/a/file --plugin .`;
  const lines = [
    `created ${created.package} in ${path}: ${files.join(', ')}`,
    'next:',
    `  cd ${path}`,
    '  npm install',
    '  npm test',
    `  ${use}`,
    `the ${kind} is in src/index.ts`,
  ];
  terminal.stderr.write(lines.map((line) => `${line}\n`).join(''));
}
