import { existsSync } from 'node:fs';
import { posix } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { anchorsOf, markdownFiles, readMarkdown } from '../../support/markdown.js';

const root = new URL('../../../', import.meta.url);

/** Links of a text that are not addresses of the web, without those in code. */
function linksOf(text: string): readonly string[] {
  const prose = text.replace(/^```[\s\S]*?^```$/gm, '').replace(/`[^`\n]*`/g, 'code');
  return [...prose.matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, target = '']) => target)
    .filter((target) => !/^[a-z]+:/i.test(target));
}

describe('the documents', () => {
  test.each(markdownFiles())('%s links to what is there', (path) => {
    const text = readMarkdown(path);
    const broken = linksOf(text).filter((link) => {
      const [file = '', anchor] = link.split('#');
      const target = file === '' ? path : posix.join(posix.dirname(path), file);
      if (!existsSync(new URL(target, root))) return true;
      return anchor !== undefined && !anchorsOf(readMarkdown(target)).has(anchor);
    });
    expect(broken).toEqual([]);
  });
});
