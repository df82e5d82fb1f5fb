import { open } from 'node:fs/promises';
import { type ContentKind, content, contentPieces } from './content.js';

/** Writes `size` bytes of {@link content} to `path`, piece by piece, so that any size fits in memory. */
export async function writeContentFile(
  path: string,
  kind: ContentKind,
  size: number,
  seed = 1,
): Promise<void> {
  await using(path, async (file) => {
    for (const piece of contentPieces(kind, size, seed)) await file.writeFile(piece);
  });
}

/**
 * Makes a file of `size` bytes that is all holes except for a random 8 KiB marker across every multiple of
 * `every` (1 GiB) and at both ends: bytes served from a wrong offset cannot go unnoticed.
 */
export async function writeSparseFile(path: string, size: number, every = 2 ** 30, seed = 1): Promise<void> {
  const MARKER = 8192;
  await using(path, async (file) => {
    await file.truncate(size);
    for (let at = 0; at < size + every; at += every) {
      const start = Math.max(0, Math.min(at, size) - MARKER / 2);
      const marker = content('random', Math.min(MARKER, size - start), seed + at);
      await file.write(marker, 0, marker.length, start);
    }
  });
}

async function using(
  path: string,
  fill: (file: Awaited<ReturnType<typeof open>>) => Promise<void>,
): Promise<void> {
  const file = await open(path, 'w');
  try {
    await fill(file);
  } finally {
    await file.close();
  }
}
