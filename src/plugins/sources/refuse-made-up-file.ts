import type { BigIntStats } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { WireBoundError } from '../../core/errors.js';
import { quotePath } from './quote-path.js';
import { shellWord } from './shell-word.js';

/**
 * Throws SOURCE_NOT_REGULAR for files that a kernel makes up (/proc, /sys): they pass as regular, but the
 * size they claim is not what can be read. A sparse file and an empty one are honest.
 */
export async function refuseMadeUpFile(
  reference: string,
  stats: BigIntStats,
  handle: FileHandle,
): Promise<void> {
  const claimed = Number(stats.size);
  if (claimed > 0 && stats.blocks !== 0n) return;
  const expected = claimed === 0 ? 0 : 1;
  let got: number | undefined;
  try {
    got = (await handle.read(Buffer.alloc(1), 0, 1, Math.max(0, claimed - 1))).bytesRead;
  } catch {
    got = undefined;
  }
  if (got === expected) return;
  throw new WireBoundError(
    'SOURCE_NOT_REGULAR',
    `${quotePath(reference)} claims ${claimed} bytes but holds others: it is made up by the kernel, not a regular file`,
    { suggestions: [`copy it first: cat ${shellWord(reference)} | wirebound serve - --name NAME`] },
  );
}
