import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { compressSync } from 'lz4-napi';
import { type ContentKind, content } from '../../support/content.js';
import { writeContentFile, writeSparseFile } from '../../support/random-file.js';
import { withTempFolder } from '../../support/temp-folder.js';

const MIB = 2 ** 20;
const CHUNK = 256 * 1024;

/** How many times smaller LZ4 makes it, chunk by chunk. */
function ratio(bytes: Buffer): number {
  let packed = 0;
  for (let at = 0; at < bytes.length; at += CHUNK) {
    packed += compressSync(bytes.subarray(at, at + CHUNK)).length;
  }
  return bytes.length / packed;
}

describe('generated content', () => {
  test.each<ContentKind>(['random', 'log', 'half'])(
    '%s is the same for the same seed, and only then',
    (kind) => {
      const bytes = content(kind, 3 * MIB + 5, 7);
      expect(bytes.length).toBe(3 * MIB + 5);
      expect(content(kind, MIB + 9, 7).equals(bytes.subarray(0, MIB + 9))).toBe(true);
      expect(content(kind, MIB, 8).equals(bytes.subarray(0, MIB))).toBe(false);
      expect(content(kind, 0)).toHaveLength(0);
    },
  );

  test('log text compresses about 12 times with LZ4', () => {
    const measured = ratio(content('log', 8 * MIB));
    expect(measured).toBeGreaterThan(11);
    expect(measured).toBeLessThan(14);
  });

  test('log text is not one repeated line', () => {
    const lines = content('log', MIB).toString().split('\n');
    expect(new Set(lines).size).toBe(lines.length);
  });

  test('random bytes do not compress', () => {
    expect(ratio(content('random', 4 * MIB))).toBeLessThan(1);
  });

  test.each<ContentKind>(['random', 'log', 'half'])('a %s file has the bytes of the buffer', async (kind) => {
    await withTempFolder(async (folder) => {
      const path = join(folder, 'file');
      await writeContentFile(path, kind, 2 * MIB + 1, 3);
      expect((await readFile(path)).equals(content(kind, 2 * MIB + 1, 3))).toBe(true);
    });
  });

  test('a sparse file has a different marker across every boundary, at both ends, and holes between', async () => {
    await withTempFolder(async (folder) => {
      const path = join(folder, 'sparse');
      const size = 3 * MIB + 12_345;
      await writeSparseFile(path, size, MIB);
      const bytes = await readFile(path);
      expect(bytes.length).toBe(size);
      const markers = [0, MIB - 4096, MIB, 2 * MIB - 4096, 2 * MIB, 3 * MIB, size - 4096].map((at) =>
        bytes.subarray(at, at + 4096).toString('hex'),
      );
      expect(new Set(markers).size).toBe(markers.length);
      expect(bytes.subarray(MIB / 2, MIB / 2 + 65_536).every((byte) => byte === 0)).toBe(true);
      expect((await stat(path)).blocks * 512).toBeLessThan(MIB);
    });
  });
});
