import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { PAYLOAD_LIMITS } from '#dist/core/framing/frame.js';
import { encodeManifest, type Manifest, parseManifest } from '#dist/core/framing/manifest.js';
import { deepList, HOSTILE_JSON, jsonObject } from '../../../support/hostile-json.js';

const SHA256 = 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad';
const ENTRY = { path: '"a.iso"', size: '70000' };
const MANIFEST = {
  entries: `[${jsonObject(ENTRY)}]`,
  chunkSize: '65536',
  codecs: '["lz4"]',
  transfer: '"t"',
};

describe('parseManifest', () => {
  test('every manifest that fits comes back as it was', () => {
    const entry = fc.record(
      {
        path: fc.string({ unit: 'binary', maxLength: 300 }),
        size: fc.nat({ max: 2 ** 45 }),
        mtimeMs: fc.nat({ max: 8.64e15 }),
        executable: fc.boolean(),
        sha256: fc.constant(SHA256),
      },
      { requiredKeys: ['path', 'size'] },
    );
    const manifest = fc.record({
      entries: fc.tuple(entry),
      chunkSize: fc.integer({ min: 16, max: 4096 }).map((steps) => steps * 4096),
      codecs: fc.subarray(['lz4', 'deflate', 'zstd']),
      transfer: fc.string({ maxLength: 64 }),
    });
    fc.assert(
      fc.property(manifest, (made) => {
        expect(parseManifest(encodeManifest(made), ['zstd', 'lz4', 'deflate'])).toEqual(made);
      }),
    );
  });

  test('the longest manifest there can be fits into its frame', () => {
    const entry = {
      path: '\u0000'.repeat(4096),
      size: 2 ** 45,
      mtimeMs: 8.64e15,
      executable: false,
      sha256: SHA256,
    };
    const codecs = Array.from({ length: 64 }, (_, at) => `${at}`.padStart(32, 'x'));
    const manifest: Manifest = { entries: [entry], chunkSize: 65_536, codecs, transfer: 'x'.repeat(64) };
    const content = encodeManifest(manifest);
    expect(content.length).toBeLessThan(PAYLOAD_LIMITS.manifest);
    expect(parseManifest(content, codecs)).toEqual(manifest);
  });

  test.each(Object.keys(MANIFEST))('a manifest without %s is refused', (name) => {
    expect(() => parse({ ...MANIFEST, [name]: undefined })).toThrow(protocol(`manifest: ${name} is missing`));
  });

  test.each(Object.keys(ENTRY))('an entry without %s is refused', (name) => {
    expect(() => parseEntry({ [name]: undefined })).toThrow(protocol(`manifest entry: ${name} is missing`));
  });

  describe.each(HOSTILE_JSON)('%s', (_, json) => {
    test.each(['chunkSize', 'entries'])('is no %s', (name) => {
      expect(() => parse({ ...MANIFEST, [name]: json })).toThrow(protocol(''));
    });

    test('is neither a codec nor a list of codecs', () => {
      if (!json.startsWith('['))
        expect(() => parse({ ...MANIFEST, codecs: json })).toThrow(protocol('codecs'));
      expect(() => parse({ ...MANIFEST, codecs: `[${json}]` })).toThrow(protocol('manifest: unknown codec'));
    });

    test.each(['size', 'mtimeMs', 'sha256', 'executable'])('is no %s', (name) => {
      if (name !== 'executable' || json !== 'true')
        expect(() => parseEntry({ [name]: json })).toThrow(protocol(name));
    });

    test('is no entry', () => {
      if (!json.startsWith('['))
        expect(() => parse({ ...MANIFEST, entries: json })).toThrow(protocol('entries'));
      expect(() => parse({ ...MANIFEST, entries: `[${json}]` })).toThrow(protocol('manifest entry: '));
    });
  });

  test.each([
    ['no entries', { entries: '[]' }, 'manifest: no entries'],
    ['two entries', { entries: `[${jsonObject(ENTRY)},${jsonObject(ENTRY)}]` }, 'a list of 2 items'],
    ['more codecs than numbers', { codecs: `[${Array(65).fill('"lz4"')}]` }, 'a list of 65 items'],
    ['a long transfer id', { transfer: `"${'t'.repeat(65)}"` }, 'a string of 65 characters'],
    ['a number for a transfer id', { transfer: '1' }, 'manifest: transfer is 1'],
    ['a chunk size of 0', { chunkSize: '0' }, 'chunk size 0 '],
    ['a chunk size of 1', { chunkSize: '1' }, 'chunk size 1 '],
    ['a chunk size of 4 GiB', { chunkSize: '4294967296' }, 'chunk size 4294967296 '],
    ['an odd chunk size', { chunkSize: '65537' }, 'chunk size 65537 '],
  ])('%s: refused', (_, fields, message) => {
    expect(() => parse({ ...MANIFEST, ...fields })).toThrow(protocol(message));
  });

  test.each([
    ['a path of 4097 characters', { path: `"${'p'.repeat(4097)}"` }, 'path is a string of 4097 characters'],
    ['2^53 bytes', { size: '9007199254740992' }, 'size is 9007199254740992'],
    ['2^64 - 1 bytes', { size: '18446744073709551615' }, 'size is 18446744073709552000'],
    ['more chunks than 32 bits count', { size: String(65_536 * 2 ** 32) }, 'file size 281474976710656'],
    ['a time beyond what dates can say', { mtimeMs: '8640000000000001' }, 'mtimeMs is 8640000000000001'],
  ])('an entry with %s: refused', (_, fields, message) => {
    expect(() => parseEntry(fields)).toThrow(protocol(message));
  });

  test.each([
    ['a path', '"../lz4"'],
    ['__proto__', '"__proto__"'],
    ['constructor', '"constructor"'],
    ['upper case', '"LZ4"'],
    ['nothing', '""'],
    ['300 characters', `"${'x'.repeat(300)}"`],
    ['a list of lists, 32,000 deep', deepList(32_000)],
  ])('a codec that the client did not offer is refused: %s', (_, codec) => {
    expect(() => parse({ ...MANIFEST, codecs: `[${codec}]` })).toThrow(protocol('manifest: unknown codec '));
  });

  test.each([
    ['63 digits', SHA256.slice(1)],
    ['65 digits', `${SHA256}0`],
    ['63 digits and a NUL', `${SHA256.slice(1)}\\u0000`],
    ['63 digits and a line end', `${SHA256.slice(1)}\\n`],
    ['spaces', ' '.repeat(64)],
    ['NULs', '\\u0000'.repeat(64)],
    ['letters beyond f', 'z'.repeat(64)],
    ['nothing', ''],
  ])('%s are no SHA-256', (_, sha256) => {
    expect(() => parseEntry({ sha256: `"${sha256}"` })).toThrow(protocol('manifest entry: sha256 is '));
  });

  test('an upper-case SHA-256 is the same SHA-256', () => {
    expect(parseEntry({ sha256: `"${SHA256.toUpperCase()}"` }).entries[0].sha256).toBe(SHA256);
  });

  test('fields that nobody knows yet are passed over', () => {
    expect(parse({ ...MANIFEST, later: '{"__proto__":1}' })).not.toHaveProperty('later');
  });
});

function parse(fields: Record<string, string | undefined>): Manifest {
  return parseManifest(jsonObject(fields), ['lz4', 'deflate']);
}

function parseEntry(fields: Record<string, string | undefined>): Manifest {
  return parse({ ...MANIFEST, entries: `[${jsonObject({ ...ENTRY, ...fields })}]` });
}

function protocol(message: string): unknown {
  return expect.objectContaining({
    code: 'PROTOCOL',
    message: expect.stringContaining(message),
  });
}
