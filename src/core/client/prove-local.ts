import { open } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { MAX_ASK } from '../framing/frame.js';
import { removePublishedPartial } from '../sink/remove-published-partial.js';
import { sinkFailure } from '../sink/sink-failure.js';
import type { ChunkPipeline } from './chunk-pipeline.js';
import type { Link } from './link.js';

/** How often a server that has not hashed that far yet is asked again, milliseconds. */
const ASK_AGAIN_MS = 200;

/** Reads bytes that are already on this machine; fewer than asked for at the end. */
export type ReadLocal = (offset: number, into: Uint8Array) => Promise<number>;

/**
 * Puts up to `count` chunks from this machine through the pipeline, against the digests that the server gives,
 * until one is not right. `pipeline.verified` then says how many are; nothing else about local bytes
 * proves anything. Goes on where the pipeline stands, so that a lost connection costs nothing.
 */
export async function proveLocal(
  link: Link,
  pipeline: ChunkPipeline,
  read: ReadLocal,
  count: number,
): Promise<void> {
  let good = true;
  while (good && pipeline.next < count) {
    const first = pipeline.next;
    const wanted = Array.from({ length: Math.min(MAX_ASK, count - first) }, (_, at) => first + at);
    const { digests } = await link.ask(wanted, pipeline.geometry.count);
    if (!digests.has(first)) await delay(ASK_AGAIN_MS);
    for (const index of wanted) {
      const digest = digests.get(index);
      if (digest === undefined) break;
      good = await submitLocal(pipeline, read, digest);
      if (!good) break;
    }
  }
  await pipeline.settle().catch(() => undefined); // a chunk that is not right is an answer, not a failure
}

/**
 * Whether the file `path` is, to its last chunk, what the server offers; then a partial name of the same file, left
 * by a get that was killed while it published, is removed.
 */
export async function proveTarget(link: Link, pipeline: ChunkPipeline, path: string): Promise<boolean> {
  const { count } = pipeline.geometry;
  const unreadable = (error: unknown) => {
    throw sinkFailure(error, 'read', path);
  };
  const file = await open(path, 'r').catch(unreadable);
  try {
    const read = async (offset: number, into: Uint8Array) =>
      (await file.read(into, 0, into.length, offset).catch(unreadable)).bytesRead;
    await proveLocal(link, pipeline, read, count);
  } finally {
    await file.close();
  }
  if (pipeline.verified < count) return false;
  await removePublishedPartial(path);
  return true;
}

/** False when the bytes end early or an earlier chunk was not right. */
async function submitLocal(pipeline: ChunkPipeline, read: ReadLocal, digest: Uint8Array): Promise<boolean> {
  const { geometry, ring } = pipeline;
  await pipeline.room();
  if (pipeline.failure !== undefined) return false;
  const index = pipeline.next;
  const chunk = ring.chunk(index, geometry.rawLength(index));
  if ((await read(geometry.offset(index), chunk)) < chunk.length) return false;
  ring.digest(index).set(digest);
  pipeline.submit(0, chunk.length);
  return true;
}

/**
 * The server's prefix digest of chunk `index`, once its hashing has come that far.
 */
export async function askDigest(link: Link, index: number, count: number): Promise<Uint8Array> {
  for (;;) {
    const digest = (await link.ask([index], count)).digests.get(index);
    if (digest !== undefined) return digest;
    await delay(ASK_AGAIN_MS);
  }
}
