import { encodeChunkHeader } from '../framing/encode-frame.js';
import type { Offer } from './offer.js';
import type { Payload } from './payload-store.js';
import type { RateLimit } from './rate-limit.js';

/** The most that goes into one write, bytes: enough for few system calls, little enough for fair turns. */
const BATCH_SIZE = 1024 * 1024;

/** What one transfer needs. */
export interface ChunkRun {
  readonly offer: Offer;
  /** Resolves when the kernel has taken the parts; like `Connection.send`. */
  send(parts: readonly Uint8Array[]): Promise<void>;
  /** Aborted when the connection is gone. */
  readonly gone: AbortSignal;
  readonly rate: RateLimit;
  readonly first: number;
  readonly end: number;
  readonly mayEncode: boolean;
  /** Ends the transfer between two writes. */
  readonly signal: AbortSignal;
  /** Called after each write that the kernel has taken. */
  sent(progress: Sent): void;
  /** Wraps every wait for the hashing pass; it comes between two frames. */
  whileWaiting(wait: Promise<void>): Promise<void>;
}

/** What one write carried. */
export interface Sent {
  /** File bytes, before encoding. */
  readonly rawBytes: number;
  readonly encodedChunks: number;
  readonly rawChunks: number;
  /** The chunk that comes next. */
  readonly next: number;
  /** Bytes of the file in front of it. */
  readonly position: number;
}

/**
 * Sends chunks `first` to `end` - 1 as frames, several small ones or a piece of a large one per write, never a
 * frame whose digest is not known. Payloads are made ahead of the socket. Rejects when the connection is gone,
 * the signal is aborted, or the source fails; every payload is given back in any case.
 */
export async function sendChunks(run: ChunkRun): Promise<void> {
  const { offer, first, end, signal } = run;
  const ahead = Math.max(2, Math.ceil(BATCH_SIZE / offer.geometry.chunkSize));
  const queue: Promise<Payload>[] = [];
  let queued = first;
  try {
    for (let index = first; index < end; ) {
      if (index >= offer.chain.frontier) await run.whileWaiting(offer.chain.reach(index, signal));
      for (; queued < Math.min(end, index + 2 * ahead, offer.chain.frontier); queued++) {
        const payload = offer.payloads.payload(queued, run.mayEncode);
        payload.catch(() => undefined); // reported when its turn comes
        queue.push(payload);
      }
      const batch = await takeBatch(queue, run.rate.batchSize(BATCH_SIZE));
      await sendBatch(run, index, batch);
      index += batch.length;
    }
  } finally {
    for (const payload of queue) payload.then((late) => late.release()).catch(() => undefined);
  }
}

/** Waits for the first payload and takes with it as many as fit into one write; at least one. */
async function takeBatch(queue: Promise<Payload>[], size: number): Promise<readonly Payload[]> {
  const batch: Payload[] = [];
  let bytes = 0;
  while (queue.length > 0 && bytes < size) {
    const next = queue[0] as Promise<Payload>;
    // One that fails behind others stays in the queue: its error is reported once they have been sent.
    const payload = batch.length === 0 ? await next : await next.catch(() => undefined);
    if (payload === undefined || (batch.length > 0 && bytes + payload.bytes.length > size)) break;
    void queue.shift();
    batch.push(payload);
    bytes += payload.bytes.length;
  }
  return batch;
}

async function sendBatch(run: ChunkRun, first: number, batch: readonly Payload[]): Promise<void> {
  const { offer, signal } = run;
  try {
    signal.throwIfAborted();
    const parts = batch.flatMap(({ codec, bytes }, at) => [
      encodeChunkHeader(codec, 0, first + at, bytes.length, offer.chain.digest(first + at)),
      bytes,
    ]);
    const size = run.rate.batchSize(BATCH_SIZE);
    for (const write of batch.length > 1 ? [parts] : cut(parts, size)) {
      await run.rate.take(byteCount(write), run.gone);
      await run.send(write);
    }
  } finally {
    for (const payload of batch) payload.release();
  }
  const next = first + batch.length;
  const position = Math.min(offer.geometry.offset(next), offer.geometry.size);
  const rawBytes = position - offer.geometry.offset(first);
  const encodedChunks = batch.filter(({ codec }) => codec !== 0).length;
  run.sent({ rawBytes, encodedChunks, rawChunks: batch.length - encodedChunks, next, position });
}

/** Cuts parts into writes of at most `size` bytes. */
function* cut(parts: readonly Uint8Array[], size: number): Generator<readonly Uint8Array[]> {
  let write: Uint8Array[] = [];
  let room = size;
  for (const part of parts) {
    for (let at = 0; at < part.length; ) {
      const piece = part.subarray(at, at + room);
      write.push(piece);
      at += piece.length;
      room -= piece.length;
      if (room > 0) continue;
      yield write;
      write = [];
      room = size;
    }
  }
  if (write.length > 0) yield write;
}

function byteCount(parts: readonly Uint8Array[]): number {
  return parts.reduce((sum, part) => sum + part.length, 0);
}
