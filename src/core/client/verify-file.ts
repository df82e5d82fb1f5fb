import { toWireBoundError, type WireBoundError } from '../errors.js';
import type { Manifest } from '../framing/manifest.js';
import type { Verdict } from '../framing/messages.js';
import { ClientRun, type ClientRunOptions, type RunWork } from './client-run.js';
import { Comparison } from './comparison.js';
import { formatTarget } from './connect.js';
import type { Link } from './link.js';
import { type LocalCopy, openLocalCopy } from './open-local-copy.js';
import type { Progress } from './retry-policy.js';
import type { VerifyEvent, VerifyResult } from './verify-event.js';

/** One `verify`. */
export interface VerifyFileOptions extends ClientRunOptions {
  /** The local file. */
  readonly path: string;
  /** Put what was fetched in the place of what is not right. */
  readonly repair: boolean;
  readonly onEvent: (event: VerifyEvent) => void;
}

/** How often progress is told, milliseconds. */
const PROGRESS_MS = 200;

/**
 * Compares a local file with what a server offers, chunk by chunk. A prefix digest covers everything in front of a
 * chunk too, so a chunk that is not right is fetched to go on past it. Throws what connecting throws, SOURCE_CHANGED,
 * SINK_FAILED for a file that cannot be read (or, to be repaired, written), and DIGEST_MISMATCH only for fetched chunks.
 */
export async function verifyFile(options: VerifyFileOptions): Promise<VerifyResult> {
  const local = await openLocalCopy(options.path, options.repair);
  const verification = new Verification(options, local);
  try {
    return await verification.complete();
  } finally {
    await verification.close();
    await local.file.close();
  }
}

class Verification implements RunWork {
  readonly #options: VerifyFileOptions;
  readonly #local: LocalCopy;
  readonly #run: ClientRun;
  readonly #startedAt = performance.now();
  #comparison: Comparison | undefined;
  #ticker: NodeJS.Timeout | undefined;

  constructor(options: VerifyFileOptions, local: LocalCopy) {
    this.#options = options;
    this.#local = local;
    this.#run = new ClientRun(options);
  }

  async complete(): Promise<VerifyResult> {
    try {
      await this.#run.complete(this);
    } catch (error) {
      const failure = toWireBoundError(error);
      await this.#run.giveUp(failure);
      throw failure;
    }
    return this.#conclude(this.#comparison as Comparison);
  }

  async close(): Promise<void> {
    clearInterval(this.#ticker);
    this.#run.close();
    await this.#comparison?.close();
  }

  get progress(): Progress | undefined {
    if (this.#comparison === undefined) return undefined;
    const { verified, verifiedAtMs } = this.#comparison.pipeline;
    return { verified, atMs: verifiedAtMs };
  }

  async attempt(link: Link, manifest: Manifest): Promise<void> {
    this.#comparison ??= this.#prepare(manifest);
    await this.#comparison.attempt(link, manifest);
  }

  retrying(failure: WireBoundError): void {
    const { onEvent, target } = this.#options;
    const { verified: chunk, geometry } = this.#comparison?.pipeline ?? {};
    const reason = failure.message;
    if (geometry === undefined) onEvent({ event: 'waiting', address: formatTarget(target), reason });
    else onEvent({ event: 'reconnecting', chunk: chunk ?? 0, chunks: geometry.count, reason });
  }

  #prepare(manifest: Manifest): Comparison {
    const { path, repair, codecs, target, onEvent } = this.#options;
    const { badChunks } = this.#run.limits;
    const comparison = new Comparison(manifest, this.#local, {
      repair,
      codecs,
      mostBadChunks: badChunks,
      onBad: (chunk) => onEvent({ event: 'bad', chunk, chunks: comparison.pipeline.geometry.count }),
    });
    const { size, count, chunkSize } = comparison.pipeline.geometry;
    onEvent({
      event: 'manifest',
      address: formatTarget(target),
      name: comparison.entry.path,
      size,
      chunks: count,
      chunkSize,
      codecs: manifest.codecs,
      path,
    });
    this.#ticker = setInterval(() => {
      onEvent({ event: 'progress', phase: 'checking', bytes: comparison.pipeline.verifiedBytes, size });
    }, PROGRESS_MS);
    return comparison;
  }

  async #conclude(comparison: Comparison): Promise<VerifyResult> {
    clearInterval(this.#ticker);
    const findings = comparison.findings();
    const different = findings.result === 'DIFFERENT';
    const message = `the copy has ${findings.badChunks.length} bad chunks`;
    const verdict: Verdict = different
      ? { verified: false, code: 'DIGEST_MISMATCH', message }
      : { verified: true };
    if (
      !(await this.#run.deliver(verdict, (link, manifest) => comparison.deliver(link, manifest, verdict)))
    ) {
      this.#options.onEvent({ event: 'warning', message: 'the server was not told the result' });
    }
    const result: VerifyResult = {
      ...findings,
      path: this.#options.path,
      bytesOnWire: this.#run.bytesOnWire,
      seconds: (performance.now() - this.#startedAt) / 1000,
    };
    this.#options.onEvent({ event: 'result', ...result });
    return result;
  }
}
