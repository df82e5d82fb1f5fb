import { readFileSync } from 'node:fs';

/**
 * The blocks of code in a Markdown file of this repository (`path` from its root) whose first line is a comment
 * with a file name (`// serve.mjs`), by that name.
 */
export function namedCodeBlocks(path: string): ReadonlyMap<string, string> {
  const text = readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
  const blocks = [...text.matchAll(/^```\w+\n(?:\/\/|#) (\S+)\n([\s\S]*?)^```$/gm)];
  return new Map(blocks.map(([, name = '', code = '']) => [name, code]));
}
