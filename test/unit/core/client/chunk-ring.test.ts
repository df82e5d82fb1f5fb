import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { ChunkRing } from '#dist/core/client/chunk-ring.js';
import { Geometry } from '#dist/core/framing/geometry.js';

const MIB = 1024 * 1024;

describe('ChunkRing', () => {
  test('no slot reaches into another one, with the next header behind the longest payload', () => {
    const chunkSizes = fc.integer({ min: 16, max: 4096 }).map((steps) => steps * 4096);
    fc.assert(
      fc.property(chunkSizes, fc.integer({ min: 1, max: 500 }), (chunkSize, count) => {
        const ring = new ChunkRing(new Geometry(count * chunkSize, chunkSize));
        const spaces = Array.from({ length: ring.slots }, (_, index) => ring.frameSpace(index, chunkSize));
        spaces.forEach((space, index) => {
          const next = spaces[index + 1];
          expect(space.length).toBe(36 + chunkSize + 8);
          if (next !== undefined)
            expect(space.byteOffset + space.length).toBeLessThanOrEqual(next.byteOffset);
        });
        expect(ring.payloadOffset(ring.slots)).toBe(ring.payloadOffset(0));
      }),
      { numRuns: 30 },
    );
  });

  test('a payload stands behind its digest, as in the frame', () => {
    const ring = new ChunkRing(new Geometry(10 * 65_536, 65_536));
    const space = ring.frameSpace(3, 100);
    expect(space.byteOffset + 4).toBe(ring.digest(3).byteOffset);
    expect(space.byteOffset + 36).toBe(ring.chunk(3, 100).byteOffset);
    expect(ring.chunk(3, 100).byteOffset).toBe(ring.payloadOffset(3));
    expect(ring.payloadOffset(3) % 64).toBe(0);
  });

  test.each([
    [64, 10_000, 16 * MIB],
    [256, 10_000, 16 * MIB],
    [1024, 10_000, 16 * MIB],
    [16 * 1024, 10_000, 4 * 17 * MIB],
    [16 * 1024, 1, 2 * 17 * MIB],
    [64, 1, 2 * 65 * 1024],
    [64, 0, 2 * 65 * 1024],
  ])('chunks of %i KiB, %i of them, take at most %i bytes', (chunkKib, count, most) => {
    const ring = new ChunkRing(new Geometry(count * chunkKib * 1024, chunkKib * 1024));
    expect(ring.memory.byteLength).toBeLessThanOrEqual(most);
    expect(ring.slots).toBeGreaterThanOrEqual(Math.min(4, Math.max(2, count + 1)));
  });
});
