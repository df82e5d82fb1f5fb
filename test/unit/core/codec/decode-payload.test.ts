import { describe, expect, test } from '@jest/globals';
import type { Codec } from '#dist/core/codec/codec.js';
import { decodePayload } from '#dist/core/codec/decode-payload.js';

const payload = new Uint8Array(5);

describe('decodePayload', () => {
  test('a synchronous codec is done on return, and may use its memory again', () => {
    const memory = new Uint8Array(10);
    let calls = 0;
    const codec = decoding(() => memory.fill(++calls));
    const chunks = [new Uint8Array(10), new Uint8Array(10)];
    for (const chunk of chunks) expect(decodePayload(codec, payload, chunk)).toBeUndefined();
    expect(chunks).toEqual([new Uint8Array(10).fill(1), new Uint8Array(10).fill(2)]);
  });

  test('an asynchronous codec is awaited', async () => {
    const chunk = new Uint8Array(10);
    await decodePayload(
      decoding(async () => new Uint8Array(10).fill(7)),
      payload,
      chunk,
    );
    expect(chunk).toEqual(new Uint8Array(10).fill(7));
  });

  test('the chunk may take the place of its payload', () => {
    const memory = Uint8Array.from([1, 2, 3, 4, 5, 0, 0, 0, 0, 0]);
    const twice = decoding((bytes) => Uint8Array.from([...bytes, ...bytes]));
    void decodePayload(twice, memory.subarray(0, 5), memory);
    expect([...memory]).toEqual([1, 2, 3, 4, 5, 1, 2, 3, 4, 5]);
  });

  test('an asynchronous codec that does not answer in time is refused', async () => {
    const never = decoding(() => new Promise<Uint8Array>(() => undefined));
    await expect(decodePayload(never, payload, new Uint8Array(10), 20)).rejects.toMatchObject({
      code: 'CODEC_FAILED',
      message: 'odd could not decode 5 bytes into a chunk of 10: it did not answer within 0.02 s',
    });
  });

  test.each([
    ['too few bytes', () => new Uint8Array(9), 'it returned 9 bytes'],
    ['too many bytes', () => new Uint8Array(11), 'it returned 11 bytes'],
    ['nothing', () => undefined, 'it did not return a Uint8Array'],
    ['a string', () => '0123456789', 'it did not return a Uint8Array'],
    ['other elements', () => new Uint16Array(10), 'it did not return a Uint8Array'],
    ['an error', () => thrown(new Error('bad block\nstack')), 'bad block'],
    ['an error that is none', () => thrown(Object.create(null)), 'object'],
  ])('%s instead of the chunk is refused, at once or later', async (_, decode, reason) => {
    const refusal = expect.objectContaining({
      code: 'CODEC_FAILED',
      message: `odd could not decode 5 bytes into a chunk of 10: ${reason}`,
    });
    expect(() => decodePayload(decoding(decode as Codec['decode']), payload, new Uint8Array(10))).toThrow(
      refusal,
    );
    const later = decoding(async () => decode() as Uint8Array);
    await expect(decodePayload(later, payload, new Uint8Array(10))).rejects.toThrow(refusal);
  });
});

function decoding(decode: Codec['decode']): Codec {
  return { name: 'odd', encode: (chunk) => chunk, decode };
}

function thrown(error: unknown): never {
  throw error;
}
