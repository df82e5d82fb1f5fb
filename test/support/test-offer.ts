import { createHash } from 'node:crypto';
import type { Codec } from '#dist/core/codec/codec.js';
import type { ChainCache } from '#dist/core/digest/chain-cache.js';
import { Geometry } from '#dist/core/framing/geometry.js';
import { Offer } from '#dist/core/server/offer.js';
import { Pacer } from '#dist/core/server/pace.js';
import { PayloadStore } from '#dist/core/server/payload-store.js';
import type { TestSource } from './test-source.js';

/** Chunks of test offers, bytes, unless something else is asked for. */
export const CHUNK_SIZE = 64 * 1024;

/** How a test offer differs from a raw one without a cache. */
export interface TestOfferOptions {
  readonly cache?: ChainCache;
  readonly rehash?: boolean;
  readonly codec?: Codec;
  readonly chunkSize?: number;
}

/** Opens an {@link Offer} on a test source, and writes down what it tells. The caller closes it. */
export async function openTestOffer(source: TestSource, options: TestOfferOptions = {}) {
  const { cache, rehash = false, codec, chunkSize = CHUNK_SIZE } = options;
  const geometry = new Geometry(source.size, chunkSize);
  const told = {
    digests: [] as (readonly [sha256: string, cached: boolean])[],
    progress: [] as (readonly [bytes: number, size: number])[],
    warnings: [] as string[],
  };
  const offer = await Offer.open(
    {
      source,
      geometry,
      payloads: new PayloadStore(source, geometry, codec === undefined ? [] : [codec], {
        capacity: 64 * 1024 * 1024,
        onCodecFailure: (failure) => void told.warnings.push(failure.message),
      }),
      pacer: new Pacer(geometry, Number.POSITIVE_INFINITY),
      cache,
      observer: {
        digestKnown: (digest, cached) => void told.digests.push([digest, cached]),
        progress: (bytes, size) => void told.progress.push([bytes, size]),
        warn: (message) => void told.warnings.push(message),
      },
    },
    rehash,
  );
  return { offer, source, geometry, told };
}

/** SHA-256 in hex. */
export function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
