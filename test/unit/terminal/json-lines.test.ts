import { expect, test } from '@jest/globals';
import { formatJsonLine } from '#dist/terminal/json-lines.js';

test('a JSON line holds no control character but its newline, and reads back as it was', () => {
  const value = { event: 'x', name: '\x00\x1b[31m\x7f\x9b\u2028\u202e\r\nä😀' };
  const line = formatJsonLine(value);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: none of them may be there
  expect(line).toMatch(/^[^\x00-\x1f\x7f-\x9f\u2028\u202e]*\n$/);
  expect(JSON.parse(line)).toEqual(value);
});
