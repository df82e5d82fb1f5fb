import { Worker } from 'node:worker_threads';
import { WireBoundError } from '../errors.js';
import { installedUrl } from '../installed-url.js';
import { type CodecModule, type DigestJob, type DigestReply, type DigestSetup, READY } from './digest-job.js';

type ReplyOf<Kind extends DigestReply['kind']> = Extract<DigestReply, { kind: Kind }>;

interface Waiter {
  resolve(reply: DigestReply): void;
  reject(error: WireBoundError): void;
}

/**
 * One running SHA-256 on a thread of its own, over memory that both sides share: the bytes themselves never
 * travel. Jobs are done in the order they are given; a job's memory must stay as it is until its promise
 * settles. The server records a chain with it, a client verifies against one.
 */
export class DigestThread {
  static #ahead: DigestThread | undefined;
  readonly #worker: Worker;
  /** Settles when the worker has loaded its modules, or ended. */
  readonly #loaded: Promise<void>;
  readonly #waiting: Waiter[] = [];
  #batch: DigestJob[] = [];
  #failure: WireBoundError | undefined;

  /** Starts a thread before it is known what for; the next {@link start} returns it. */
  static startAhead(): void {
    DigestThread.#ahead ??= new DigestThread();
  }

  /** A thread that nobody else uses: the one that was started ahead, or a new one. */
  static start(): DigestThread {
    const thread = DigestThread.#ahead ?? new DigestThread();
    DigestThread.#ahead = undefined;
    return thread;
  }

  /** Starts the thread, which takes some 40 ms; it can be given work at once after `attach`. */
  constructor() {
    this.#worker = new Worker(installedUrl('core/digest/digest-worker.js'), { name: 'digest' });
    this.#worker.unref(); // until there is work, nothing depends on it
    this.#worker.on('error', (error) => this.#fail(`the digest thread failed: ${error.message}`, error));
    this.#worker.on('exit', () => this.#fail('the digest thread has ended'));
    this.#loaded = new Promise((resolve) => {
      this.#worker.on('message', (replies: readonly DigestReply[] | typeof READY) => {
        if (replies === READY) resolve();
        else for (const reply of replies) this.#waiting.shift()?.resolve(reply);
      });
      this.#worker.on('exit', () => resolve());
    });
  }

  /**
   * Tells which memory jobs are about, once, before the first job. `codecs` are loaded by the thread itself;
   * their places are the codec numbers of verify jobs, from 1.
   */
  attach(memory: SharedArrayBuffer, codecs: readonly CodecModule[] = []): void {
    const setup: DigestSetup = { memory, codecs };
    this.#worker.ref();
    this.#worker.postMessage(setup);
  }

  /** Hashes `length` bytes at `offset`; resolves to the prefix digest after each `chunkSize` of them, 32 bytes each. */
  async record(offset: number, length: number, chunkSize: number): Promise<Uint8Array> {
    return (await this.#submit<'record'>({ kind: 'record', offset, length, chunkSize })).digests;
  }

  /** Decodes, hashes and compares one chunk; see {@link DigestJob}. */
  verify(job: Omit<Extract<DigestJob, { kind: 'verify' }>, 'kind'>): Promise<ReplyOf<'verify'>> {
    return this.#submit<'verify'>({ kind: 'verify', ...job });
  }

  /** Makes chunk `index` the next one to verify; with `restart` from an empty hash. */
  expect(index: number, restart = false): void {
    this.#post({ kind: 'expect', index, restart });
  }

  /** Ends the thread; jobs that have not been answered reject. */
  async close(): Promise<void> {
    await this.#loaded; // a thread that is ended while it loads modules leaves their descriptors open (Node 20)
    await this.#worker.terminate();
  }

  #submit<Kind extends DigestReply['kind']>(job: DigestJob): Promise<ReplyOf<Kind>> {
    if (this.#failure !== undefined) return Promise.reject(this.#failure);
    return new Promise((resolve, reject) => {
      this.#waiting.push({ resolve: resolve as (reply: DigestReply) => void, reject });
      this.#post(job);
    });
  }

  /** Jobs of one turn of the event loop travel as one message. */
  #post(job: DigestJob): void {
    if (this.#batch.push(job) > 1) return;
    queueMicrotask(() => {
      this.#worker.postMessage(this.#batch);
      this.#batch = [];
    });
  }

  #fail(message: string, cause?: unknown): void {
    this.#failure ??= new WireBoundError('INTERNAL', message, { cause });
    for (const waiter of this.#waiting.splice(0)) waiter.reject(this.#failure);
  }
}
