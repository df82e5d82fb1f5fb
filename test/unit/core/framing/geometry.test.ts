import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { Geometry, isChunkSize, MAX_CHUNK_SIZE, MIN_CHUNK_SIZE } from '#dist/core/framing/geometry.js';

const KIB = 1024;
const chunkSizes = fc.integer({ min: 16, max: 4096 }).map((steps) => steps * 4 * KIB);

describe('Geometry', () => {
  test('the chunks of any file lie end to end, none is empty and only the last may be short', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 2 ** 34 }), chunkSizes, (size, chunkSize) => {
        const geometry = new Geometry(size, chunkSize);
        const last = geometry.count - 1;
        for (const index of [0, 1, last - 1, last].filter((at) => at >= 0 && at <= last)) {
          const rawLength = geometry.rawLength(index);
          const end = geometry.offset(index) + rawLength;
          expect(rawLength).toBeGreaterThan(0);
          if (index === last) expect(end).toBe(size);
          else expect([rawLength, end]).toEqual([chunkSize, geometry.offset(index + 1)]);
        }
        expect(geometry.count === 0).toBe(size === 0);
      }),
    );
  });

  test.each([
    [0, 0, 0],
    [1, 1, 1],
    [65_535, 1, 65_535],
    [65_536, 1, 65_536],
    [65_537, 2, 1],
    [131_072, 2, 65_536],
  ])('a file of %i bytes has %i chunks of 64 KiB, the last of %i bytes', (size, count, lastLength) => {
    const geometry = new Geometry(size, 64 * KIB);
    expect(geometry.count).toBe(count);
    if (count > 0) expect(geometry.rawLength(count - 1)).toBe(lastLength);
  });

  test('a file has at most 2^32 - 1 chunks', () => {
    const most = 0xffff_ffff * MIN_CHUNK_SIZE;
    const geometry = new Geometry(most, MIN_CHUNK_SIZE);
    expect(geometry.count).toBe(0xffff_ffff);
    expect(geometry.rawLength(geometry.count - 1)).toBe(MIN_CHUNK_SIZE);
    expect(() => new Geometry(most + 1, MIN_CHUNK_SIZE)).toThrow(
      expect.objectContaining({ code: 'PROTOCOL', message: expect.stringContaining(String(most + 1)) }),
    );
  });

  test.each([-1, 0.5, 2 ** 53, 2 ** 64, Number.NaN, Number.POSITIVE_INFINITY])(
    'a file of %p bytes is refused',
    (size) => {
      expect(() => new Geometry(size, MAX_CHUNK_SIZE)).toThrow(
        expect.objectContaining({ code: 'PROTOCOL', message: expect.stringContaining(String(size)) }),
      );
    },
  );

  test.each([
    0,
    1,
    -65_536,
    4096,
    65_535,
    65_537,
    70_000,
    MAX_CHUNK_SIZE + 4096,
    2 ** 32,
    Number.NaN,
    Number.POSITIVE_INFINITY,
  ])('a chunk size of %p is refused', (chunkSize) => {
    expect(isChunkSize(chunkSize)).toBe(false);
    expect(() => new Geometry(1, chunkSize)).toThrow(
      expect.objectContaining({ code: 'PROTOCOL', message: expect.stringContaining(String(chunkSize)) }),
    );
  });

  test('every multiple of 4 KiB from 64 KiB to 16 MiB is a chunk size', () => {
    fc.assert(fc.property(chunkSizes, (chunkSize) => isChunkSize(chunkSize)));
    expect([MIN_CHUNK_SIZE, MAX_CHUNK_SIZE].every(isChunkSize)).toBe(true);
  });
});
