/** The body of the digest thread; see {@link DigestThread} for the other side. */
import { createHash, type Hash } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { parentPort } from 'node:worker_threads';
import type { Codec } from '../codec/codec.js';
import { decodePayload } from '../codec/decode-payload.js';
import { DIGEST_LENGTH } from '../framing/frame.js';
import {
  type CodecModule,
  type DigestJob,
  type DigestReply,
  type DigestSetup,
  READY,
  type VerifyOutcome,
} from './digest-job.js';

type VerifyJob = Extract<DigestJob, { kind: 'verify' }>;
type RecordJob = Extract<DigestJob, { kind: 'record' }>;

const port = parentPort;
if (port === null) throw new Error('digest-worker runs as a worker thread only');
let bytes: Buffer = Buffer.alloc(0);
let modules: readonly CodecModule[] = [];
/** Loaded when the first chunk needs them. */
const codecs: Promise<Codec>[] = [];

let hash: Hash = createHash('sha256');
let expected = 0;
/** Jobs wait for each other: a codec may be asynchronous. */
let queue: DigestJob[] = [];
let running = false;

/**
 * Replies travel together, once half of the memory has been worked on or nothing is left to do: each wakes the
 * other side, and where cores are scarce that takes the core away from this one.
 */
let replyEvery = 0;
let replies: DigestReply[] = [];
let unreported = 0;

port.once('message', (setup: DigestSetup) => {
  bytes = Buffer.from(setup.memory);
  modules = setup.codecs;
  replyEvery = bytes.length / 2;
  port.on('message', (jobs: readonly DigestJob[]) => {
    queue.push(...jobs);
    if (!running) void run();
  });
});

port.postMessage(READY);

async function run(): Promise<void> {
  running = true;
  await nextTurn(); // so that everything that has arrived is done in one go
  for (let batch = queue; batch.length > 0; batch = queue) {
    queue = [];
    for (const job of batch) {
      const reply = job.kind === 'verify' ? await verify(job) : perform(job);
      if (reply === undefined) continue;
      replies.push(reply);
      unreported += job.kind === 'verify' ? job.rawLength : replyEvery;
      if (unreported >= replyEvery) report();
    }
    await nextTurn();
  }
  report();
  running = false;
}

function report(): void {
  if (replies.length > 0) port?.postMessage(replies);
  replies = [];
  unreported = 0;
}

function perform(job: Exclude<DigestJob, VerifyJob>): DigestReply | undefined {
  if (job.kind === 'record') return { kind: 'record', digests: record(job) };
  expected = job.index;
  if (job.restart) hash = createHash('sha256');
  return undefined;
}

function record(job: RecordJob): Uint8Array {
  const digests = new Uint8Array(Math.ceil(job.length / job.chunkSize) * DIGEST_LENGTH);
  for (let done = 0, at = 0; done < job.length; done += job.chunkSize, at += DIGEST_LENGTH) {
    const start = job.offset + done;
    hash.update(bytes.subarray(start, start + Math.min(job.chunkSize, job.length - done)));
    digests.set(hash.copy().digest(), at);
  }
  return digests;
}

async function verify(job: VerifyJob): Promise<DigestReply> {
  if (job.index !== expected) return { kind: 'verify', outcome: 'skipped', decodeMs: 0, hashMs: 0 };
  const decoded = job.codec === 0 ? { ms: 0 } : await decodeInPlace(job);
  const startedAt = performance.now();
  const outcome: VerifyOutcome =
    decoded.failure === undefined ? compare(job) : { outcome: 'undecodable', message: decoded.failure };
  expected = outcome.outcome === 'verified' ? expected + 1 : -1;
  return { kind: 'verify', ...outcome, decodeMs: decoded.ms, hashMs: performance.now() - startedAt };
}

/** Replaces a payload by the chunk it stands for, or says why that is not possible. */
async function decodeInPlace(job: VerifyJob): Promise<{ readonly ms: number; readonly failure?: string }> {
  const module = modules[job.codec - 1];
  if (module === undefined) return { ms: 0, failure: `there is no codec number ${job.codec}` };
  try {
    codecs[job.codec] ??= loadCodec(module);
    const codec = await (codecs[job.codec] as Promise<Codec>);
    const startedAt = performance.now();
    const payload = bytes.subarray(job.offset, job.offset + job.payloadLength);
    await decodePayload(codec, payload, bytes.subarray(job.offset, job.offset + job.rawLength));
    return { ms: performance.now() - startedAt };
  } catch (error) {
    return { ms: 0, failure: error instanceof Error ? error.message : String(error) };
  }
}

function compare(job: VerifyJob): VerifyOutcome {
  const next = hash.copy();
  next.update(bytes.subarray(job.offset, job.offset + job.rawLength));
  const actual = next.copy().digest();
  if (!actual.equals(bytes.subarray(job.offset - DIGEST_LENGTH, job.offset))) {
    return { outcome: 'mismatch', actual: Uint8Array.from(actual) };
  }
  hash = next;
  return { outcome: 'verified' };
}

async function loadCodec({ name, module }: CodecModule): Promise<Codec> {
  if (module === undefined) throw new Error(`codec ${name} cannot be loaded into a thread`);
  const { loadPlugin } = await import('../plugin/load-plugin.js');
  const plugin = await loadPlugin(module);
  const codec = plugin.codecs.find((candidate) => candidate.name === name);
  if (codec === undefined) throw new Error(`${module} has no codec ${name}`);
  return codec;
}
