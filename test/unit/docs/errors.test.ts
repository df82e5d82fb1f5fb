import { describe, expect, test } from '@jest/globals';
import { ERROR_CODES } from '#dist/core/errors.js';
import { readMarkdown, sectionOf, tableRows } from '../../support/markdown.js';

describe('docs/errors.md', () => {
  const rows = tableRows(readMarkdown('docs/errors.md'));

  test('has every code once, with its exit code and its meaning', () => {
    const documented = rows.map(([code, exit, meaning]) => [code, Number(exit), meaning]);
    const known = Object.entries(ERROR_CODES).map(([code, { exitCode, summary }]) => [
      `\`${code}\``,
      exitCode,
      summary,
    ]);
    expect(documented).toEqual(known);
  });

  test('says for every code what to do', () => {
    expect(rows.filter(([, , , action = '']) => action.length < 10)).toEqual([]);
  });
});

describe('the exit codes in README.md', () => {
  test('are 0 and those of the errors', () => {
    const documented = tableRows(sectionOf(readMarkdown('README.md'), 'Exit codes'));
    const known = new Set(Object.values(ERROR_CODES).map(({ exitCode }) => exitCode));
    expect(documented.map(([code]) => Number(code))).toEqual([0, ...[...known].sort((a, b) => a - b)]);
  });
});
