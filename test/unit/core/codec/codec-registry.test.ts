import { describe, expect, test } from '@jest/globals';
import type { Codec } from '#dist/core/codec/codec.js';
import { CodecRegistry } from '#dist/core/codec/codec-registry.js';

describe('CodecRegistry', () => {
  test('a codec comes back with its origin and its module', () => {
    const registry = new CodecRegistry();
    const codec = named('lz4');
    registry.register(codec, { origin: 'built-in', module: 'file:///plugins/lz4.js' });
    expect(registry.get('lz4')).toEqual({ codec, origin: 'built-in', module: 'file:///plugins/lz4.js' });
    expect(registry.get('lz4').codec).toBe(codec);
    expect(registry.has('lz4')).toBe(true);
  });

  test('none comes first, the others as they were registered', () => {
    const registry = withCodecs('zstd', 'none', 'lz4');
    registry.registerUnavailable('brotli', 'somewhere', new Error('no'));
    expect(registry.names()).toEqual(['none', 'zstd', 'lz4']);
    expect(registry.list().map(({ name }) => name)).toEqual(['none', 'zstd', 'lz4', 'brotli']);
  });

  test.each(['__proto__', 'constructor', 'toString', '', 'LZ4', 'none,lz4', '../lz4'])(
    'the name "%s" is unknown, and the answer lists what there is',
    (name) => {
      const registry = withCodecs('none', 'lz4');
      expect(registry.has(name)).toBe(false);
      expect(() => registry.get(name)).toThrow(
        expect.objectContaining({
          code: 'CODEC_UNKNOWN',
          exitCode: 2,
          message: `unknown codec "${name}"; there are: none, lz4`,
        }),
      );
    },
  );

  test('an unknown name from a peer is shown escaped and short', () => {
    const name = `\u001b[31m\n${'x'.repeat(300)}`;
    expect(() => withCodecs('none').get(name)).toThrow(
      /^unknown codec "\\x1b\[31m\\x0ax{26}"; there are: none$/,
    );
  });

  test('a codec that cannot be loaded is listed with the cause, and asking for it tells the cause', () => {
    const registry = withCodecs('none');
    const cause = new Error("Cannot find package 'lz4-napi'\nRequire stack: ...");
    registry.registerUnavailable('lz4', 'built-in', cause);
    expect(registry.has('lz4')).toBe(false);
    expect(registry.list()).toEqual([
      { name: 'none', origin: 'test' },
      { name: 'lz4', origin: 'built-in', unavailable: "Cannot find package 'lz4-napi'" },
    ]);
    expect(() => registry.get('lz4')).toThrow(
      expect.objectContaining({
        code: 'CODEC_UNAVAILABLE',
        message: "codec lz4 does not work on this machine: Cannot find package 'lz4-napi'",
        cause,
      }),
    );
  });

  test('a name is taken only once, and both origins are named', () => {
    const registry = withCodecs('lz4');
    const refusal = expect.objectContaining({
      code: 'PLUGIN_FAILED',
      message: 'codec lz4 of ./mine.js is already registered by test',
    });
    expect(() => registry.register(named('lz4'), { origin: './mine.js' })).toThrow(refusal);
    expect(() => registry.registerUnavailable('lz4', './mine.js', new Error('no'))).toThrow(refusal);
    expect(registry.get('lz4').origin).toBe('test');
  });

  test.each(['', 'LZ4', '-lz4', 'lz 4', 'lz4\n', 'a'.repeat(33), 'zstd/9'])(
    'the name "%s" is refused',
    (name) => {
      const refusal = expect.objectContaining({ code: 'PLUGIN_FAILED' });
      expect(() => new CodecRegistry().register(named(name), { origin: 'test' })).toThrow(refusal);
    },
  );

  test.each(['a', '7z', 'zstd-9', 'a'.repeat(32)])('the name "%s" is fine', (name) => {
    expect(withCodecs(name).names()).toEqual([name]);
  });
});

function named(name: string): Codec {
  return { name, encode: (chunk) => chunk.slice(), decode: (payload) => payload.slice() };
}

function withCodecs(...names: string[]): CodecRegistry {
  const registry = new CodecRegistry();
  for (const name of names) registry.register(named(name), { origin: 'test' });
  return registry;
}
