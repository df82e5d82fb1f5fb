import { WireBoundError } from '../errors.js';
import type { Geometry } from '../framing/geometry.js';
import type { ChunkSource } from '../source/chunk-source.js';
import type { Chain } from './chain.js';
import { DigestThread } from './digest-thread.js';

/** Bytes read from the source at a time, at least one chunk. */
const SPAN_SIZE = 1024 * 1024;
/** Spans in flight: one is hashed while others are read. */
const SPANS = 4;

/** What a hashing pass has been waiting for so far, milliseconds. */
export interface PassTimes {
  sourceMs: number;
  digestMs: number;
}

/** When the pass may read chunk `index`: it resolves at once, or holds the pass back. */
export type Pace = (index: number, signal: AbortSignal) => Promise<void>;

/**
 * The hashing pass: reads `source` once from front to back and appends every prefix digest to `chain`. Reading
 * goes on ahead of the digest thread in shared memory of at most 4 MiB or 4 chunks. Throws SOURCE_CHANGED when the source ends
 * early, and what `source.read` throws.
 */
export async function recordChain(
  source: ChunkSource,
  geometry: Geometry,
  chain: Chain,
  pace: Pace,
  signal: AbortSignal,
  times: PassTimes = { sourceMs: 0, digestMs: 0 },
): Promise<void> {
  const chunksPerSpan = Math.max(1, Math.floor(SPAN_SIZE / geometry.chunkSize));
  const spanSize = chunksPerSpan * geometry.chunkSize;
  const memory = new SharedArrayBuffer(Math.min(spanSize * SPANS, Math.max(1, geometry.size)));
  const thread = new DigestThread();
  thread.attach(memory);
  const slots: Promise<void>[] = [];
  try {
    for (let index = 0, span = 0; index < geometry.count; index += chunksPerSpan, span++) {
      signal.throwIfAborted();
      await pace(index, signal);
      const slot = span % SPANS;
      const startedAt = performance.now();
      await slots[slot];
      const freeAt = performance.now();
      const offset = slot * spanSize;
      const length = Math.min(spanSize, geometry.size - geometry.offset(index));
      await readWhole(source, geometry.offset(index), new Uint8Array(memory, offset, length));
      times.digestMs += freeAt - startedAt;
      times.sourceMs += performance.now() - freeAt;
      const recorded = thread
        .record(offset, length, geometry.chunkSize)
        .then((digests) => chain.append(digests));
      recorded.catch(() => undefined); // reported by whoever awaits the slot
      slots[slot] = recorded;
    }
    await Promise.all(slots);
  } finally {
    await thread.close();
  }
}

/** Fills `into` from `offset` on, or throws SOURCE_CHANGED: the source was longer than this when it was opened. */
export async function readWhole(source: ChunkSource, offset: number, into: Uint8Array): Promise<void> {
  const read = await source.read(offset, into);
  if (read === into.length) return;
  throw new WireBoundError(
    'SOURCE_CHANGED',
    `${source.name} ends at byte ${offset + read}, it had ${source.size} bytes when it was opened`,
    { suggestions: ['start wirebound serve again once the file is complete'] },
  );
}
