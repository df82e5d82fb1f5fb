import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';

const root = new URL('../../../', import.meta.url);
const text = readFileSync(new URL('docs/decisions/012-bug-corpus.md', root), 'utf8');
const rows = [...text.matchAll(/^\| (B\d\d) \| (.+?) \| (.+?) \| (.*?) ?\|$/gm)].map(
  ([, id = '', , tests = '', remark = '']) => ({
    id,
    tests: [...tests.matchAll(/`([^`]+)`/g)].map(([, path = '']) => path),
    remark,
  }),
);

test('every case of the corpus is covered by tests that are there, or says why not', () => {
  expect(new Set(rows.map(({ id }) => id)).size).toBe(76);
  expect(rows).toHaveLength(76);
  for (const { id, tests, remark } of rows) {
    expect({ id, covered: tests.length > 0 || remark.length > 20 }).toEqual({ id, covered: true });
    for (const path of tests) {
      expect({ id, path, there: existsSync(new URL(`test/${path}`, root)) }).toEqual({
        id,
        path,
        there: true,
      });
    }
  }
});

test('a test that carries the number of a case is named in its row', () => {
  const named = new Map(rows.map(({ id, tests }) => [id, new Set(tests)]));
  for (const path of new Set(rows.flatMap(({ tests }) => tests))) {
    const titles = readFileSync(new URL(`test/${path}`, root), 'utf8').matchAll(/\bB\d\d\b/g);
    for (const [id] of titles)
      expect({ id, path, named: named.get(id)?.has(path) }).toEqual({ id, path, named: true });
  }
});
