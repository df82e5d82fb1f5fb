import { describe, expect, test } from '@jest/globals';
import { GET_LIMITS } from '#dist/core/client/get-limits.js';
import { SERVE_LIMITS } from '#dist/core/server/serve-limits.js';
import { readMarkdown, sectionOf, tableRows } from '../../support/markdown.js';

/** A limit as the document writes it. */
function written(name: string, value: number): string {
  if (name.endsWith('Bytes')) return `${value / 1024} KiB`;
  if (!name.endsWith('Ms')) return String(value);
  return value < 1000 ? `${value} ms` : `${value / 1000} s`;
}

describe('the limits in docs/architecture.md', () => {
  test('are those of the server and of the client, with their numbers', () => {
    const rows = tableRows(sectionOf(readMarkdown('docs/architecture.md'), 'Limits'));
    const limits = [...Object.entries(SERVE_LIMITS), ...Object.entries(GET_LIMITS)];
    expect(rows.map(([name, value]) => [name, value])).toEqual(
      limits.map(([name, value]) => [`\`${name}\``, written(name, value)]),
    );
  });
});
