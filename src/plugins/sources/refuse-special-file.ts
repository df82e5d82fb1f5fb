import type { BigIntStats } from 'node:fs';
import { basename, resolve } from 'node:path';
import { WireBoundError } from '../../core/errors.js';
import { quotePath } from './quote-path.js';
import { shellWord } from './shell-word.js';

/**
 * Throws SOURCE_NOT_REGULAR unless `stats` are those of a regular file; the error says what it is instead
 * and how it can be served all the same.
 */
export function refuseSpecialFile(reference: string, stats: BigIntStats): void {
  if (stats.isFile()) return;
  if (stats.isDirectory()) {
    throw new WireBoundError(
      'SOURCE_NOT_REGULAR',
      `${quotePath(reference)} is a folder, not a regular file`,
      {
        suggestions: [
          `tar c ${shellWord(reference)} | wirebound serve - --name ${folderName(reference)}.tar`,
        ],
      },
    );
  }
  const pipeable = stats.isFIFO() || stats.isBlockDevice();
  throw new WireBoundError(
    'SOURCE_NOT_REGULAR',
    `${quotePath(reference)} is ${kindOf(stats)}, not a regular file`,
    {
      suggestions: pipeable
        ? [`pipe it in instead: cat ${shellWord(reference)} | wirebound serve - --name NAME`]
        : [],
    },
  );
}

function kindOf(stats: BigIntStats): string {
  if (stats.isFIFO()) return 'a pipe';
  if (stats.isSocket()) return 'a socket';
  return 'a device';
}

function folderName(reference: string): string {
  return shellWord(basename(resolve(reference)) || 'root');
}
