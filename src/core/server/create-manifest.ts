import type { Manifest } from '../framing/manifest.js';
import type { Offer } from './offer.js';

/** The Manifest of an offer; `codecs` are those that the server may use and the client can decode. */
export function createManifest(offer: Offer, codecs: readonly string[]): Manifest {
  const { name, size, mtimeMs, executable } = offer.source;
  const { sha256 } = offer.chain;
  const entry = {
    path: name,
    size,
    ...(mtimeMs === undefined || mtimeMs < 0 ? {} : { mtimeMs: Math.floor(mtimeMs) }),
    ...(executable === undefined ? {} : { executable }),
    ...(sha256 === undefined ? {} : { sha256 }),
  };
  return { entries: [entry], chunkSize: offer.geometry.chunkSize, codecs, transfer: offer.transfer };
}
