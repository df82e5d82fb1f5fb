import { describe, expect, test } from '@jest/globals';
import type { Codec } from '#dist/core/codec/codec.js';
import { encodeChunk } from '#dist/core/codec/encode-chunk.js';

const chunk = new Uint8Array(100).fill(7);

describe('encodeChunk', () => {
  test('a result that is shorter is passed on as it is', async () => {
    const bytes = new Uint8Array(99);
    const result = await encodeChunk(
      encoding(() => bytes),
      chunk,
    );
    expect(result.encoded && result.bytes).toBe(bytes);
  });

  test('a codec may be asynchronous', async () => {
    const bytes = new Uint8Array(1);
    expect(
      await encodeChunk(
        encoding(() => Promise.resolve(bytes)),
        chunk,
      ),
    ).toEqual({ encoded: true, bytes });
  });

  test.each([
    ['as long as the chunk', 100],
    ['longer', 101],
    ['longer by a quarter and 1 KiB', 100 + 25 + 1024],
    ['empty', 0],
  ])('a result that is %s means raw, and is no failure', async (_, length) => {
    expect(
      await encodeChunk(
        encoding(() => new Uint8Array(length)),
        chunk,
      ),
    ).toEqual({ encoded: false });
  });

  test('a result that is longer than any compressor makes it means raw, and is a failure', async () => {
    const result = await encodeChunk(
      encoding(() => new Uint8Array(100 + 25 + 1024 + 1)),
      chunk,
    );
    expect(result).toEqual({
      encoded: false,
      failure: expect.objectContaining({
        code: 'CODEC_FAILED',
        message: 'odd could not encode a chunk of 100 bytes: it returned 1150 bytes',
      }),
    });
  });

  test.each([
    ['undefined', undefined],
    ['a string', 'short'],
    ['an array', [1, 2]],
    ['an ArrayBuffer', new ArrayBuffer(10)],
    ['other elements than bytes', new Uint16Array(10)],
    ['a promise of null', Promise.resolve(null)],
  ])('%s instead of bytes means raw, and is a failure', async (_, value) => {
    expect(
      await encodeChunk(
        encoding(() => value as unknown as Uint8Array),
        chunk,
      ),
    ).toEqual({
      encoded: false,
      failure: expect.objectContaining({
        code: 'CODEC_FAILED',
        message: 'odd could not encode a chunk of 100 bytes: it did not return a Uint8Array',
      }),
    });
  });

  test.each([
    ['throws', () => thrown(new Error('no\nstack'))],
    ['rejects', () => Promise.reject(new Error('no\nstack'))],
  ])('a codec that %s means raw, and the failure tells why in one line', async (_, encode) => {
    expect(await encodeChunk(encoding(encode), chunk)).toEqual({
      encoded: false,
      failure: expect.objectContaining({
        code: 'CODEC_FAILED',
        message: 'odd could not encode a chunk of 100 bytes: no',
        cause: expect.objectContaining({ message: 'no\nstack' }),
      }),
    });
  });

  test('no answer in time is a failure, and the chunk may still be in use', async () => {
    const never = encoding(() => new Promise<Uint8Array>(() => undefined));
    const result = await encodeChunk(never, chunk, 20);
    expect(result).toMatchObject({
      encoded: false,
      unanswered: true,
      failure: { code: 'CODEC_FAILED', message: expect.stringMatching(/: it did not answer within 0.02 s$/) },
    });
  });

  test('a view of the chunk itself is a failure, because that memory will be used again', async () => {
    const result = await encodeChunk(
      encoding((input) => input.subarray(10, 20)),
      chunk,
    );
    expect(result).toMatchObject({ encoded: false, failure: { code: 'CODEC_FAILED' } });
  });

  test('a result beside the chunk in the same memory pool is fine', async () => {
    const pool = new Uint8Array(200);
    const result = await encodeChunk(
      encoding(() => pool.subarray(100, 150)),
      pool.subarray(0, 100),
    );
    expect(result.encoded).toBe(true);
  });
});

function encoding(encode: (chunk: Uint8Array) => Uint8Array | Promise<Uint8Array>): Codec {
  return { name: 'odd', encode, decode: (payload) => payload };
}

function thrown(error: Error): never {
  throw error;
}
