import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const ROOT = new URL('../../', import.meta.url);
const NOT_OURS = new Set(['node_modules', 'dist', '.git']);

/** The text of a Markdown file of this repository; `path` is from its root. */
export function readMarkdown(path: string): string {
  return readFileSync(new URL(path, ROOT), 'utf8');
}

/** All Markdown files of this repository, by their paths from its root. */
export function markdownFiles(folder = ''): readonly string[] {
  return readdirSync(fileURLToPath(new URL(folder, ROOT)), { withFileTypes: true }).flatMap((found) => {
    if (NOT_OURS.has(found.name)) return [];
    const path = `${folder}${found.name}`;
    if (found.isDirectory()) return markdownFiles(`${path}/`);
    return found.name.endsWith('.md') ? [path] : [];
  });
}

/**
 * Its blocks of code whose first line is a comment with a file name (`// serve.mjs`), by that name.
 */
export function namedCodeBlocks(text: string): ReadonlyMap<string, string> {
  const blocks = [...text.matchAll(/^```\w+\n(?:\/\/|#) (\S+)\n([\s\S]*?)^```$/gm)];
  return new Map(blocks.map(([, name = '', code = '']) => [name, code]));
}

/** What stands under a heading, up to the next one of the same level or above. */
export function sectionOf(text: string, heading: string): string {
  const start = text
    .split('\n')
    .findIndex((line) => /^#+ /.test(line) && line.replace(/^#+ /, '') === heading);
  if (start === -1) throw new Error(`there is no heading "${heading}"`);
  const lines = text.split('\n').slice(start);
  const level = /^#+/.exec(lines[0] ?? '')?.[0].length ?? 1;
  const end = lines.findIndex((line, at) => at > 0 && new RegExp(`^#{1,${level}} `).test(line));
  return lines.slice(0, end === -1 ? lines.length : end).join('\n');
}

/** Whether a line is what separates the head of a table from its rows. */
function isRule(line: string): boolean {
  return /^\|[-| ]+$/.test(line) && line.includes('-');
}

/** The rows of all tables in a text, cell by cell, without their heads. */
export function tableRows(text: string): readonly (readonly string[])[] {
  const rows: string[][] = [];
  const lines = text.split('\n');
  lines.forEach((line, at) => {
    if (!line.startsWith('|') || isRule(line) || isRule(lines[at + 1] ?? '')) return;
    const cells = line.split(/(?<!\\)\|/).slice(1, -1);
    rows.push(cells.map((cell) => cell.trim()));
  });
  return rows;
}

/** The anchors that GitHub gives to the headings of a text. */
export function anchorsOf(text: string): ReadonlySet<string> {
  const headings = text.replace(/^```[\s\S]*?^```$/gm, '').matchAll(/^#+ (.+)$|^(.+)\n=+$/gm);
  return new Set(
    [...headings].map(([, atx, setext]) =>
      (atx ?? setext ?? '')
        .toLowerCase()
        .replace(/[^\p{L}\p{N}_ -]/gu, '')
        .replaceAll(' ', '-'),
    ),
  );
}
