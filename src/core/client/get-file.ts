import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { RegisteredCodec } from '../codec/codec-registry.js';
import { DigestThread } from '../digest/digest-thread.js';
import { toWireBoundError, WireBoundError } from '../errors.js';
import type { Manifest } from '../framing/manifest.js';
import type { GetReason, Hello, Verdict } from '../framing/messages.js';
import { formatTarget, type Target } from './connect.js';
import type { GetEvent, GetResult } from './get-event.js';
import { GET_LIMITS, type GetLimits } from './get-limits.js';
import { Link } from './link.js';
import { RetryPolicy } from './retry-policy.js';
import { Transfer } from './transfer.js';

/** One `get`. */
export interface GetFileOptions {
  readonly target: Target;
  /** A file, a folder, `-`, `/dev/null`; undefined: the current folder. */
  readonly output?: string | undefined;
  readonly force: boolean;
  /** The SHA-256 the file must have, lower-case hex. */
  readonly expect?: string | undefined;
  /** How long to keep trying while no server is there yet, milliseconds. */
  readonly waitMs: number;
  /** How long to keep reconnecting after the last new verified chunk, milliseconds; 0: not at all. */
  readonly retryForMs: number;
  /** Codecs that can be decoded here. */
  readonly codecs: readonly RegisteredCodec[];
  /** Program and version. */
  readonly agent: string;
  readonly signal: AbortSignal;
  readonly limits?: Partial<GetLimits>;
  readonly onEvent: (event: GetEvent) => void;
}

/** How often progress is told, milliseconds. */
const PROGRESS_MS = 200;

/**
 * Gets one file and proves it. Resolves to PASS only when the file is in its place, published, with the right
 * SHA-256; to FAIL with a code once it is known what would be received. Rejects with a WireBoundError when it does not
 * come that far (no server, not a WireBound server, another version).
 */
export async function getFile(options: GetFileOptions): Promise<GetResult> {
  const run = new GetRun(options);
  try {
    return await run.complete();
  } finally {
    await run.close();
  }
}

class GetRun {
  readonly #options: GetFileOptions;
  readonly #limits: GetLimits;
  readonly #hello: Hello;
  readonly #startedAt = performance.now();
  readonly #retry: RetryPolicy;
  /** Started first: it takes longer to be ready than a connection. */
  readonly #thread = new DigestThread();
  #closedBytes = 0;
  #link: Link | undefined;
  #transfer: Transfer | undefined;
  #progress: NodeJS.Timeout | undefined;

  constructor(options: GetFileOptions) {
    this.#options = options;
    this.#limits = { ...GET_LIMITS, ...options.limits };
    this.#retry = new RetryPolicy(this.#limits, options.waitMs, options.retryForMs);
    const codecs = options.codecs.map(({ codec }) => codec.name);
    this.#hello = { agent: options.agent, codecs, run: randomBytes(16).toString('hex') };
  }

  async complete(): Promise<GetResult> {
    let reason: GetReason = 'first';
    for (;;) {
      try {
        await this.#attempt(reason);
        return await this.#conclude();
      } catch (error) {
        const failure = this.#options.signal.aborted
          ? toWireBoundError(this.#options.signal.reason)
          : toWireBoundError(error);
        reason = reasonOf(failure);
        const pauseMs = this.#retry.pause(failure, this.#transfer?.pipeline.verified);
        if (this.#options.signal.aborted || pauseMs === undefined) return await this.#fail(failure);
        this.#tellRetry(failure);
        this.#endLink(failure);
        await delay(pauseMs, undefined, { signal: this.#options.signal }).catch(() => undefined);
      }
    }
  }

  async close(): Promise<void> {
    clearInterval(this.#progress);
    this.#endLink(new WireBoundError('CONNECTION_LOST', 'the run is over'));
    await this.#transfer?.close();
    await this.#thread.close();
  }

  async #attempt(reason: GetReason): Promise<void> {
    const { target, signal } = this.#options;
    const link = await Link.open(target, this.#hello, this.#limits, signal);
    this.#link = link;
    const manifest = await link.manifest(this.#hello.codecs);
    this.#transfer ??= await this.#prepare(manifest);
    await this.#transfer.attempt(link, manifest, reason);
  }

  async #prepare(manifest: Manifest): Promise<Transfer> {
    const { output, force, expect, codecs, onEvent } = this.#options;
    const transfer = await Transfer.prepare(manifest, {
      output,
      force,
      expect,
      codecs,
      thread: this.#thread,
    });
    const { geometry } = transfer.pipeline;
    onEvent({
      event: 'manifest',
      address: formatTarget(this.#options.target),
      name: transfer.entry.path,
      size: geometry.size,
      chunks: geometry.count,
      chunkSize: geometry.chunkSize,
      codecs: manifest.codecs,
      path: transfer.location,
    });
    this.#progress = setInterval(() => this.#tellProgress(transfer), PROGRESS_MS);
    return transfer;
  }

  #tellProgress({ phase, pipeline }: Transfer): void {
    if (phase === 'done') return;
    this.#options.onEvent({
      event: 'progress',
      phase,
      bytes: pipeline.verifiedBytes,
      size: pipeline.geometry.size,
    });
  }

  /** The file is in place: tell the server, over a new connection if this one has just died. */
  async #conclude(): Promise<GetResult> {
    const transfer = this.#transfer as Transfer;
    clearInterval(this.#progress);
    this.#options.onEvent({
      event: 'progress',
      phase: 'flushing',
      bytes: transfer.entry.size,
      size: transfer.entry.size,
    });
    if (!(await this.#deliverVerdict())) {
      this.#options.onEvent({
        event: 'warning',
        message: 'the server was not told that the file is complete',
      });
    }
    return this.#result(transfer, { result: 'PASS' });
  }

  async #deliverVerdict(): Promise<boolean> {
    const limit = this.#transfer?.limit;
    const verdict: Verdict = {
      verified: true,
      ...(limit === undefined ? {} : { limitedBy: limit.limitedBy, share: limit.share }),
    };
    const giveUpAt = performance.now() + this.#limits.verdictMs;
    const { target, signal } = this.#options;
    let delivered = (await this.#link?.conclude(verdict)) ?? false;
    while (!delivered && this.#options.retryForMs > 0 && performance.now() < giveUpAt && !signal.aborted) {
      await delay(this.#limits.leastBackoffMs);
      this.#endLink(new WireBoundError('CONNECTION_LOST', 'the verdict was not delivered'));
      try {
        this.#link = await Link.open(target, this.#hello, this.#limits, signal);
        const manifest = await this.#link.manifest(this.#hello.codecs);
        delivered = await (this.#transfer as Transfer).deliver(this.#link, manifest, verdict);
      } catch (error) {
        if (this.#retry.pause(toWireBoundError(error), undefined) === undefined) return false;
      }
    }
    return delivered;
  }

  async #fail(failure: WireBoundError): Promise<GetResult> {
    const transfer = this.#transfer;
    const { code, message } = failure;
    if (this.#link !== undefined && !this.#link.gone.aborted) {
      await this.#link.conclude({ verified: false, code, message });
    }
    if (transfer === undefined) throw failure;
    const { partial } = transfer;
    await transfer.close();
    return this.#result(transfer, {
      result: 'FAIL',
      code,
      message,
      ...(partial === undefined ? {} : { partial }),
    });
  }

  #result(
    transfer: Transfer,
    outcome: Pick<GetResult, 'result' | 'code' | 'message' | 'partial'>,
  ): GetResult {
    const { sha256, alreadyComplete, location, entry, limit } = transfer;
    const differs = outcome.result === 'FAIL' && outcome.code === 'DIGEST_MISMATCH';
    const expected = differs ? (this.#options.expect ?? entry.sha256) : undefined;
    const result: GetResult = {
      ...outcome,
      ...(sha256 === undefined ? {} : { sha256 }),
      ...(expected === undefined ? {} : { expected }),
      name: entry.path,
      path: location,
      bytes: entry.size,
      bytesOnWire: this.#closedBytes + (this.#link?.bytesReceived ?? 0),
      seconds: (performance.now() - this.#startedAt) / 1000,
      alreadyComplete,
      ...limit,
    };
    this.#options.onEvent({ event: 'result', ...result });
    return result;
  }

  #tellRetry(failure: WireBoundError): void {
    const { onEvent, target } = this.#options;
    const pipeline = this.#transfer?.pipeline;
    if (pipeline === undefined) {
      onEvent({ event: 'waiting', address: formatTarget(target), reason: failure.message });
    } else {
      const { verified, geometry } = pipeline;
      onEvent({ event: 'reconnecting', chunk: verified, chunks: geometry.count, reason: failure.message });
    }
  }

  #endLink(reason: WireBoundError): void {
    this.#closedBytes += this.#link?.bytesReceived ?? 0;
    this.#link?.fail(reason);
    this.#link = undefined;
  }
}

function reasonOf(failure: WireBoundError): GetReason {
  if (failure.code === 'DIGEST_MISMATCH') return 'mismatch';
  if (failure.code === 'CODEC_FAILED') return 'codec';
  return failure.code === 'PROTOCOL' ? 'protocol' : 'lost';
}
