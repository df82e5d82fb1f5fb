import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { escapeForTerminal } from '#dist/core/escape.js';

test.each([
  ['\x1b[1A\rharmless', '\\x1b[1A\\x0dharmless'],
  ['\x1b]0;pwn\x07', '\\x1b]0;pwn\\x07'],
  ['\x9b31m', '\\x9b31m'],
  ['a\r\nb\x08\x08\x7f\0', 'a\\x0d\\x0ab\\x08\\x08\\x7f\\x00'],
  ['photo\u202egpj.exe', 'photo\\u202egpj.exe'],
  ['\u2066x\u2069', '\\u2066x\\u2069'],
  ['a\ud800b\udc00', 'a\\ud800b\\udc00'],
])('what could steer a terminal is shown as text: %j', (text, shown) => {
  expect(escapeForTerminal(text)).toBe(shown);
});

test.each(['plain.iso', 'naïve a\u0302 \u00e2 漢字 🎉', 'back\\slash "quotes" 100%', '\u05d0\u200f'])(
  'everything else stays as it is: %j',
  (text) => {
    expect(escapeForTerminal(text)).toBe(text);
  },
);

test('no control character ever comes out, whatever goes in', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      expect(escapeForTerminal(text)).not.toMatch(/\p{Cc}|\p{Cs}/u);
    }),
  );
});
