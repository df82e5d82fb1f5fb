import { describe, expect, test } from '@jest/globals';
import {
  asFields,
  optionalText,
  parseJson,
  requireArray,
  requireBoolean,
  requireInteger,
  requireText,
  showValue,
} from '#dist/core/framing/json-fields.js';
import { deepList } from '../../../support/hostile-json.js';

describe('parseJson', () => {
  test.each([
    ['nothing', ''],
    ['half an object', '{"a":'],
    ['two objects', '{}{}'],
    ['NaN', '{"a":NaN}'],
    ['a comment', '{}//'],
    ['an object cut inside a character', Buffer.from('{"a":"ä"}').subarray(0, 7)],
    ['bytes that are not UTF-8', Buffer.from('7b2261223a22ff227d', 'hex')],
    ['a surrogate in UTF-8', Buffer.from('7b2261223a22eda080227d', 'hex')],
  ])('%s is not valid JSON', (_, text) => {
    expect(() => parseJson(Buffer.from(text), 'hello')).toThrow(protocol('hello: not valid JSON'));
  });

  test.each(['null', '1', '"{}"', '[]', 'true'])('%s is no object', (text) => {
    expect(() => parseJson(Buffer.from(text), 'hello')).toThrow(protocol('hello: not a JSON object'));
  });

  test('lists 32,000 deep are no object either, and no overflow', () => {
    expect(() => parseJson(Buffer.from(deepList(32_000)), 'hello')).toThrow(
      protocol('hello: not a JSON object'),
    );
  });

  test('a field called __proto__ is a field like any other and reaches no prototype', () => {
    const fields = parseJson(Buffer.from('{"__proto__":{"agent":"x"},"constructor":1}'), 'hello');
    expect([...fields.values.keys()]).toEqual(['__proto__', 'constructor']);
    expect(() => requireText(fields, 'agent', 9)).toThrow(protocol('hello: agent is missing, not a string'));
    expect(() => requireText(fields, 'toString', 9)).toThrow(protocol('hello: toString is missing'));
    expect(({} as { agent?: unknown }).agent).toBeUndefined();
  });

  test('of a field that is there twice the last one counts', () => {
    expect(requireText(parseJson(Buffer.from('{"a":"x","a":"y"}'), 'hello'), 'a', 1)).toBe('y');
  });
});

describe('fields', () => {
  const fields = asFields(
    { text: 'four', whole: 7, zero: -0, part: 0.5, big: 2 ** 53, on: true, list: [1, 2], nothing: null },
    'test',
  );

  test('a string is at most as long as is said', () => {
    expect(requireText(fields, 'text', 4)).toBe('four');
    expect(() => requireText(fields, 'text', 3)).toThrow(
      protocol('test: text is "four", not a string of at most 3 characters'),
    );
    expect(() => requireText(fields, 'whole', 9)).toThrow(protocol('test: whole is 7, not a string'));
  });

  test('a string that may be left out may not be something else', () => {
    expect(optionalText(fields, 'absent', 4)).toBeUndefined();
    expect(() => optionalText(fields, 'nothing', 4)).toThrow(protocol('test: nothing is null, not a string'));
  });

  test('a whole number lies between 0 and the limit, both included', () => {
    expect(requireInteger(fields, 'whole', 7)).toBe(7);
    expect(requireInteger(fields, 'zero', 7)).toBe(0);
    for (const name of ['part', 'big', 'text', 'on', 'list', 'nothing', 'absent']) {
      expect(() => requireInteger(fields, name, 6)).toThrow(protocol(`test: ${name} is `));
    }
    expect(() => requireInteger(fields, 'whole', 6)).toThrow(
      protocol('test: whole is 7, not a whole number from 0 to 6'),
    );
  });

  test('true and false have no substitutes', () => {
    expect(requireBoolean(fields, 'on')).toBe(true);
    for (const name of ['whole', 'text', 'nothing', 'absent']) {
      expect(() => requireBoolean(fields, name)).toThrow(protocol(`test: ${name} is `));
    }
  });

  test('a list is at most as long as is said, and each item is looked at', () => {
    expect(requireArray(fields, 'list', 2, String)).toEqual(['1', '2']);
    expect(() => requireArray(fields, 'list', 1, String)).toThrow(
      protocol('test: list is a list of 2 items, not a list of at most 1 items'),
    );
    expect(() => requireArray(fields, 'text', 9, String)).toThrow(protocol('test: text is "four"'));
  });
});

test('a value is shown on one line, printable, short and without going into its depth', () => {
  expect(showValue('\u001b[2J\n\u202e')).toBe('"\\x1b[2J\\x0a\\u202e"');
  expect(showValue('x'.repeat(41))).toBe('a string of 41 characters');
  expect(showValue(JSON.parse(deepList(32_000)))).toBe('a list of 1 items');
  expect([{}, null, 1.5, undefined, true].map(showValue)).toEqual([
    'an object',
    'null',
    '1.5',
    'undefined',
    'true',
  ]);
});

function protocol(message: string): unknown {
  return expect.objectContaining({ code: 'PROTOCOL', message: expect.stringContaining(message) });
}
