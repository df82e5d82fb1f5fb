import { encodeChunkHeader } from '../framing/encode-frame.js';
import type { CodecChoice } from './codec-choice.js';
import type { Offer } from './offer.js';
import type { Payload } from './payload-store.js';
import type { RateLimit } from './rate-limit.js';
import type { Waits } from './waits.js';

/** The most that goes into one write, bytes: enough for few system calls, little enough for fair turns. */
const BATCH_SIZE = 1024 * 1024;

/** What one transfer needs. */
export interface ChunkRun {
  readonly offer: Offer;
  readonly choice: CodecChoice;
  readonly rate: RateLimit;
  readonly waits: Waits;
  readonly first: number;
  readonly end: number;
  /** Ends the transfer between two frames; the rate does not hold up what is left of the frame under way. */
  readonly signal: AbortSignal;
  /** Called before each batch: what to send together with it. */
  frame(batch: Batch): BatchFrame;
  /** Resolves when the kernel has taken the parts; like `Connection.send`. */
  send(parts: readonly Uint8Array[]): Promise<void>;
  /** Called after each batch, between two frames; sending goes on when it resolves. */
  sent(progress: Sent): Promise<void>;
  /** Wraps every wait for the hashing pass, the source and the codec; it comes between two frames. */
  whileWaiting<T>(wait: Promise<T>): Promise<T>;
}

/** What is about to be sent. */
export interface Batch {
  /** The chunk that comes next. */
  readonly next: number;
  /** Length on the wire, headers included. */
  readonly bytes: number;
  /** Nothing in it is encoded. */
  readonly raw: boolean;
}

/** Frames in front of a batch and behind it. */
export interface BatchFrame {
  readonly before: readonly Uint8Array[];
  readonly after: readonly Uint8Array[];
}

/** What one batch carried. */
export interface Sent {
  /** File bytes, before encoding. */
  readonly rawBytes: number;
  /** What they were on the wire, without headers. */
  readonly payloadBytes: number;
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
  const { offer, choice, first, end, signal } = run;
  const { geometry, payloads, chain } = offer;
  const ahead = 2 * Math.max(1, Math.ceil(BATCH_SIZE / geometry.chunkSize));
  const queue: Promise<Payload>[] = [];
  let queued = first;
  try {
    for (let index = first; index < end; ) {
      if (index >= chain.frontier) {
        await run.waits.time(
          () => offer.passLimit,
          () => run.whileWaiting(chain.reach(index, signal)),
        );
      }
      const reach = () =>
        payloads.tight ? 1 : Math.min(ahead, Math.max(1, Math.floor(choice.reach / geometry.chunkSize)));
      for (; queued < Math.min(end, index + reach(), chain.frontier); queued++) {
        const payload = payloads.payload(queued, choice.choose(queued, geometry.rawLength(queued)));
        payload.catch(() => undefined); // reported when its turn comes
        queue.push(payload);
      }
      const batch = await run.waits.time(
        () => (choice.encodes ? payloads.encodeLimit : 'sourceMs'),
        () => run.whileWaiting(takeBatch(queue, run.rate.batchSize(BATCH_SIZE))),
      );
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
  const { offer, choice, signal, waits } = run;
  const next = first + batch.length;
  const encodedChunks = batch.filter(({ codec }) => codec !== 0).length;
  try {
    signal.throwIfAborted();
    const chunks = batch.flatMap(({ codec, bytes }, at) => {
      const [index, number] = [first + at, choice.wireNumber(codec)];
      return [encodeChunkHeader(number, 0, index, bytes.length, offer.chain.digest(index)), bytes];
    });
    const { before, after } = run.frame({ next, bytes: byteCount(chunks), raw: encodedChunks === 0 });
    const parts = [...before, ...chunks, ...after];
    const size = run.rate.batchSize(BATCH_SIZE);
    for (const write of batch.length > 1 ? [parts] : cut(parts, size)) {
      await waits.time('rateMs', () => run.rate.take(byteCount(write), signal));
      await waits.time('networkMs', () => run.send(write));
    }
  } finally {
    for (const payload of batch) payload.release();
  }
  const position = Math.min(offer.geometry.offset(next), offer.geometry.size);
  await run.sent({
    rawBytes: position - offer.geometry.offset(first),
    payloadBytes: byteCount(batch.map(({ bytes }) => bytes)),
    encodedChunks,
    rawChunks: batch.length - encodedChunks,
    next,
    position,
  });
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
