import { expect, test } from '@jest/globals';
import { causeLine } from '#dist/core/cause-line.js';

test.each([
  ['an error', new Error('no such thing'), 'no such thing'],
  ['several lines', new Error('\nfirst\r\nsecond'), 'first'],
  ['control characters', new Error('\u001b[31mred'), '\\x1b[31mred'],
  ['a string', 'plain', 'plain'],
  ['nothing', undefined, 'undefined'],
  ['a symbol', Symbol('x'), 'Symbol(x)'],
  ['an object without a prototype', Object.create(null), 'object'],
  ['a message that is no text', { message: { toString: undefined } }, 'object'],
  ['a long message', new Error('x'.repeat(1000)), 'x'.repeat(200)],
])('%s is told in one printable line', (_, thrown, line) => {
  expect(causeLine(thrown)).toBe(line);
});
