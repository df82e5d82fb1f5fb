import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { fillMarkers } from '../../../benchmark/documents/fill-markers.js';
import { makeSections } from '../../../benchmark/documents/sections.js';
import { markdownTable } from '../../../benchmark/support/table.js';

const ROOT = new URL('../../../', import.meta.url);

describe('markers in a document', () => {
  const text = 'above\n<!-- bench:a -->\nold\n<!-- /bench:a -->\nbelow\n';

  test('are filled, and filling again changes nothing', () => {
    const filled = fillMarkers(text, { a: '| new |' });
    expect(filled).toBe('above\n<!-- bench:a -->\n\n| new |\n\n<!-- /bench:a -->\nbelow\n');
    expect(fillMarkers(filled, { a: '| new |' })).toBe(filled);
  });

  test('without an end, or for something that is not measured, are an error', () => {
    expect(() => fillMarkers('<!-- bench:a -->\n', { a: '' })).toThrow('no end');
    expect(() => fillMarkers(text, {})).toThrow('no section a');
  });
});

test('a table has its numbers to the right', () => {
  expect(markdownTable(['what', 'times'], [['x', '1.50']])).toBe(
    '| what | times |\n| ---- | ----: |\n| x    |  1.50 |',
  );
});

test.each(['README.md', 'docs/benchmarks.md', 'docs/writeup.md'])(
  'every marker in %s has a section that the scripts make',
  (name) => {
    const url = new URL(name, ROOT);
    const text = existsSync(url) ? readFileSync(url, 'utf8') : '';
    expect(() => fillMarkers(text, makeSections())).not.toThrow();
  },
);
