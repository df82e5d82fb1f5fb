import { WireBoundError } from '../errors.js';
import type { Geometry } from '../framing/geometry.js';
import type { Manifest } from '../framing/manifest.js';
import type { Link } from './link.js';
import { askDigest } from './prove-local.js';

/** What a run knows about the file so far. */
export interface KnownPart {
  readonly geometry: Geometry;
  /** Chunks that are proven. */
  readonly verified: number;
  /** The prefix digest of the last of them. */
  readonly lastDigest: Uint8Array | undefined;
}

/**
 * Makes sure that what is proven so far is the beginning of what a server offers on another connection: it may have
 * been started again with another file. Throws SOURCE_CHANGED.
 */
export async function requireSameContent(link: Link, manifest: Manifest, known: KnownPart): Promise<void> {
  const { geometry, verified, lastDigest } = known;
  const [entry] = manifest.entries;
  if (entry.size !== geometry.size || manifest.chunkSize !== geometry.chunkSize)
    throw sourceChanged(entry.path);
  if (lastDigest === undefined) return;
  const digest = await askDigest(link, verified - 1, geometry.count);
  if (Buffer.compare(digest, lastDigest) !== 0) throw sourceChanged(entry.path);
}

/** SOURCE_CHANGED as a client says it. */
export function sourceChanged(name: string): WireBoundError {
  return new WireBoundError('SOURCE_CHANGED', `the server now offers another content of ${name}`, {
    suggestions: ['run the same command again: it gets the new content and keeps what is still right'],
  });
}
