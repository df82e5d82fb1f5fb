import { DigestThread } from '../digest/digest-thread.js';
import { toWireBoundError, WireBoundError } from '../errors.js';
import type { Manifest } from '../framing/manifest.js';
import type { GetReason, Verdict } from '../framing/messages.js';
import { ClientRun, type ClientRunOptions, type RunWork } from './client-run.js';
import { formatTarget } from './connect.js';
import type { GetEvent, GetResult } from './get-event.js';
import type { Link } from './link.js';
import type { Progress } from './retry-policy.js';
import { Transfer } from './transfer.js';

/** One `get`. */
export interface GetFileOptions extends ClientRunOptions {
  /** A digest thread that has been started already; it is used up, and closed. */
  readonly thread?: DigestThread | undefined;
  /** A file, a folder, `-`, `/dev/null`; undefined: the current folder. */
  readonly output?: string | undefined;
  readonly force: boolean;
  /** The SHA-256 the file must have, lower-case hex. */
  readonly expect?: string | undefined;
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
  const get = new FileGet(options);
  try {
    return await get.complete();
  } finally {
    await get.close();
  }
}

class FileGet implements RunWork {
  readonly #options: GetFileOptions;
  readonly #run: ClientRun;
  readonly #startedAt = performance.now();
  readonly #thread: DigestThread;
  #transfer: Transfer | undefined;
  #ticker: NodeJS.Timeout | undefined;

  constructor(options: GetFileOptions) {
    this.#options = options;
    // First of all: it takes longer to be ready than a connection.
    this.#thread = options.thread ?? new DigestThread();
    this.#run = new ClientRun(options);
  }

  async complete(): Promise<GetResult> {
    try {
      await this.#run.complete(this);
    } catch (error) {
      return await this.#fail(toWireBoundError(error));
    }
    return await this.#pass(this.#transfer as Transfer);
  }

  async close(): Promise<void> {
    clearInterval(this.#ticker);
    this.#run.close();
    await this.#transfer?.close();
    await this.#thread.close();
  }

  get progress(): Progress | undefined {
    if (this.#transfer === undefined) return undefined;
    const { verified, verifiedAtMs } = this.#transfer.pipeline;
    return { verified, atMs: verifiedAtMs };
  }

  async attempt(link: Link, manifest: Manifest, reason: GetReason): Promise<void> {
    this.#transfer ??= await this.#prepare(manifest);
    await this.#transfer.attempt(link, manifest, reason);
  }

  retrying(failure: WireBoundError): void {
    const { onEvent, target } = this.#options;
    const pipeline = this.#transfer?.pipeline;
    if (pipeline === undefined) {
      onEvent({ event: 'waiting', address: formatTarget(target), reason: failure.message });
    } else {
      const { verified, geometry } = pipeline;
      onEvent({ event: 'reconnecting', chunk: verified, chunks: geometry.count, reason: failure.message });
    }
  }

  async #prepare(manifest: Manifest): Promise<Transfer> {
    const { output, force, expect, codecs, onEvent } = this.#options;
    const [{ size }] = manifest.entries;
    const transfer = await Transfer.prepare(manifest, {
      output,
      force,
      expect,
      codecs,
      thread: this.#thread,
      onChecking: (path, bytes) => onEvent({ event: 'checking', path, bytes }),
      onKept: (path, bytes) => onEvent({ event: 'kept', path, bytes, size }),
    });
    const { geometry } = transfer.pipeline;
    onEvent({
      event: 'manifest',
      address: formatTarget(this.#options.target),
      name: transfer.entry.path,
      size,
      chunks: geometry.count,
      chunkSize: geometry.chunkSize,
      codecs: manifest.codecs,
      path: transfer.location,
    });
    this.#ticker = setInterval(() => this.#tellProgress(transfer), PROGRESS_MS);
    return transfer;
  }

  #tellProgress({ phase, pipeline }: Transfer): void {
    if (phase === 'done') return;
    const { verifiedBytes, geometry } = pipeline;
    this.#options.onEvent({ event: 'progress', phase, bytes: verifiedBytes, size: geometry.size });
  }

  /** The file is in place: tell the server, over a new connection if this one has just died. */
  async #pass(transfer: Transfer): Promise<GetResult> {
    const { onEvent } = this.#options;
    const { size } = transfer.entry;
    clearInterval(this.#ticker);
    onEvent({ event: 'progress', phase: 'flushing', bytes: size, size });
    const { limit } = transfer;
    const verdict: Verdict = {
      verified: true,
      ...(limit === undefined ? {} : { limitedBy: limit.limitedBy, share: limit.share }),
    };
    const delivered = await this.#run.deliver(verdict, (link, manifest) =>
      transfer.deliver(link, manifest, verdict),
    );
    if (!delivered) {
      onEvent({ event: 'warning', message: 'the server was not told that the file is complete' });
    }
    return this.#result(transfer, { result: 'PASS' });
  }

  async #fail(failure: WireBoundError): Promise<GetResult> {
    const transfer = this.#transfer;
    // What has arrived whole is worth keeping, and telling of.
    await transfer?.pipeline.settle().catch(() => undefined);
    const told = transfer === undefined ? failure : namingChunk(failure, transfer);
    await this.#run.giveUp(told);
    if (transfer === undefined) throw told;
    await transfer.close();
    const { partial } = transfer;
    const { code, message, suggestions } = told;
    const kept = partial === undefined ? {} : { partial };
    const next = suggestions.length === 0 ? {} : { suggestions };
    return this.#result(transfer, { result: 'FAIL', code, message, ...kept, ...next });
  }

  #result(
    transfer: Transfer,
    outcome: Pick<GetResult, 'result' | 'code' | 'message' | 'partial' | 'suggestions'>,
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
      bytesOnWire: this.#run.bytesOnWire,
      seconds: (performance.now() - this.#startedAt) / 1000,
      alreadyComplete,
      ...limit,
    };
    this.#options.onEvent({ event: 'result', ...result });
    return result;
  }
}

/** A failure of the connection or the protocol says how far the file had come. */
function namingChunk(failure: WireBoundError, { pipeline }: Transfer): WireBoundError {
  const { code, message, suggestions } = failure;
  const { verified, verifiedBytes, geometry } = pipeline;
  if (!['PROTOCOL', 'CONNECTION_LOST', 'IDLE'].includes(code) || verified === geometry.count) return failure;
  const where = `chunk ${verified} of ${geometry.count} was due, ${verifiedBytes} of ${geometry.size} bytes are verified`;
  return new WireBoundError(code, `${message}; ${where}`, { suggestions, cause: failure });
}
