import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { WireBoundError } from '#dist/core/errors.js';
import { safeName } from '#dist/core/sink/safe-name.js';

/** Names that are legal on Linux and not everywhere else (and some that only look dangerous). */
const LINUX_NAMES = [
  ...[
    'a:b|c?.txt',
    '<cool>.txt',
    'CON',
    'nul.whatever.txt',
    'trailing.',
    'trailing ',
    '-rf',
    '--help',
    ' lead',
  ],
  ...['quote"\'.txt', '$(touch x).txt', '100%.txt', 'trailing', 'com1', 'LPT\u00b9.log', 'nul .txt', '...'],
];
const HARMLESS = [
  '_index_slash_ssl.html',
  'a..b',
  '...x',
  '-x',
  '.ssh',
  '~',
  'console.log',
  'a\u0302.txt',
  '\u00e2.txt',
];

describe('on Linux', () => {
  test.each([...LINUX_NAMES, ...HARMLESS, '..\\x', 'C:\\x', 'C:x', '\\\\srv\\share', '\u202egpj.exe'])(
    'the legal name %j is kept byte for byte',
    (name) => {
      expect(safeName(name, 'linux')).toBe(name);
    },
  );

  test.each([
    ['new\nline', 'new_line'],
    ['x\0.txt', 'x_.txt'],
    ['\x1b[1A\rharmless', '_[1A_harmless'],
    ['\x9b31m\x7f', '_31m_'],
    ['lone\ud800', 'lone_'],
  ])('control characters are taken out of %j', (announced, name) => {
    expect(safeName(announced, 'linux')).toBe(name);
  });
});

describe.each(['linux', 'win32'] as const)('on %s', (platform) => {
  test.each([
    ...[
      '../x',
      '../../../../tmp/pwn',
      '/tmp/pwn',
      'a/b',
      'a/../../x',
      '..',
      '.',
      '',
      '~/x',
      'file:///etc/passwd',
    ],
    ...['x/', ' ', '   ', '\t', '\u00a0'],
  ])('%j, which is no file name, is refused', (announced) => {
    expect(() => safeName(announced, platform)).toThrow(expect.objectContaining({ code: 'SINK_UNSAFE' }));
  });

  test('a refused name is shown escaped and short', () => {
    const announced = `\x1b[2J/${'x'.repeat(70_000)}`;
    expect(() => safeName(announced, platform)).toThrow(
      /^the name the server announced, "\\x1b\[2J\/x{1,80}"/,
    );
  });

  test.each([
    [`${'é'.repeat(127)}a`, `${'é'.repeat(127)}a`],
    [`${'漢'.repeat(84)}abc`, `${'漢'.repeat(84)}abc`],
    ['a'.repeat(256), 'a'.repeat(255)],
    [`${'é'.repeat(2048)}.iso`, `${'é'.repeat(125)}.iso`],
    [`${'a'.repeat(70_000)}.tar`, `${'a'.repeat(251)}.tar`],
    [`a.${'é'.repeat(200)}`, `a.${'é'.repeat(126)}`],
    [`a${'\ud83c\udf89'.repeat(70)}`, `a${'\ud83c\udf89'.repeat(63)}`],
  ])('a name over 255 bytes is cut between characters, before its extension (%#)', (announced, name) => {
    expect(safeName(announced, platform)).toBe(name);
  });

  test('whatever is announced becomes one component, or is refused', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 300 }), (announced) => {
        const name = nameOrRefusal(announced, platform);
        if (name === undefined) return;
        expect(name).not.toMatch(/\/|\p{Cc}|\p{Cs}/u);
        expect(['', '.', '..']).not.toContain(name);
        expect(Buffer.byteLength(name)).toBeLessThanOrEqual(255);
        if (platform === 'win32') expect(name).not.toMatch(/[<>:"|?*\\]|[. ]$/);
      }),
    );
  });
});

describe('on Windows', () => {
  test('names that Windows forbids become legal ones that differ from each other', () => {
    const names = LINUX_NAMES.map((name) => safeName(name, 'win32'));
    for (const name of names) {
      expect(name).not.toMatch(/[<>:"|?*\\/]|[. ]$/);
      expect(name).not.toMatch(/^(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³]) *(\.|$)/i);
    }
    expect(new Set(names.map((name) => name.toLowerCase())).size).toBe(names.length);
  });

  test.each(HARMLESS)('the legal name %j is kept', (name) => {
    expect(safeName(name, 'win32')).toBe(name);
  });

  test.each(['..\\x', 'C:\\x', '\\\\srv\\share'])('%j holds separators there and is refused', (announced) => {
    expect(() => safeName(announced, 'win32')).toThrow(expect.objectContaining({ code: 'SINK_UNSAFE' }));
  });

  test('a drive letter does not survive', () => {
    expect(safeName('C:x', 'win32')).toBe('C%3Ax');
  });
});

function nameOrRefusal(announced: string, platform: NodeJS.Platform): string | undefined {
  try {
    return safeName(announced, platform);
  } catch (error) {
    if (error instanceof WireBoundError) return undefined;
    throw error;
  }
}
