import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { setTimeout as delay } from 'node:timers/promises';
import type { ContentKind } from '../../test/support/content.js';
import { writeContentFile } from '../../test/support/random-file.js';

/** A file to serve, in the page cache. */
export interface ServedFile {
  readonly path: string;
  /** Bytes. */
  readonly size: number;
  readonly content: ContentKind;
  /** By node:crypto, not by the product. */
  readonly sha256: string;
}

/** Chains of files that changed more recently than this are not kept between runs of the server. */
const SETTLED_AFTER_MS = 2_000;

/**
 * Makes `FOLDER/CONTENT-SIZE.bin`; reading it for its digest leaves it in the page cache. It is old enough for its
 * chain to be cached.
 */
export async function makeServedFile(
  folder: string,
  content: ContentKind,
  size: number,
): Promise<ServedFile> {
  const path = join(folder, `${content}-${size}.bin`);
  await writeContentFile(path, content, size);
  const hash = createHash('sha256');
  await pipeline(createReadStream(path, { highWaterMark: 2 ** 20 }), hash);
  const age = Date.now() - (await stat(path)).ctimeMs;
  await delay(Math.max(0, SETTLED_AFTER_MS + 100 - age));
  return { path, size, content, sha256: hash.digest('hex') };
}
