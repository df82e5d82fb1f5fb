import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { RegisteredCodec } from '../codec/codec-registry.js';
import { toWireBoundError, WireBoundError } from '../errors.js';
import type { Manifest } from '../framing/manifest.js';
import type { GetReason, Hello, Verdict } from '../framing/messages.js';
import type { Target } from './connect.js';
import { GET_LIMITS, type GetLimits } from './get-limits.js';
import { Link } from './link.js';
import { isConnectionTrouble, type Progress, RetryPolicy } from './retry-policy.js';

/** What every run of a client needs to know. */
export interface ClientRunOptions {
  readonly target: Target;
  /** How long to keep trying while no server is there yet, milliseconds. */
  readonly waitMs: number;
  /** How long to keep reconnecting after the last new verified chunk, milliseconds; 0: not at all. */
  readonly retryForMs: number;
  /** Codecs that can be decoded here. */
  readonly codecs: readonly RegisteredCodec[];
  /** Program and version. */
  readonly agent: string;
  readonly signal: AbortSignal;
  readonly limits?: Partial<GetLimits> | undefined;
}

/** What a run does over its connections. */
export interface RunWork {
  /** What is proven so far; undefined until it is known what would be received. */
  readonly progress: Progress | undefined;
  /** Does everything that is left, over one connection; another attempt may follow what it throws. */
  attempt(link: Link, manifest: Manifest, reason: GetReason): Promise<void>;
  /** Another attempt will follow this failure. */
  retrying(failure: WireBoundError): void;
}

/** One run towards a server, over as many connections as it takes; the server counts them as one. */
export class ClientRun {
  readonly limits: GetLimits;
  readonly #options: ClientRunOptions;
  readonly #hello: Hello;
  readonly #retry: RetryPolicy;
  #link: Link | undefined;
  #closedBytes = 0;

  constructor(options: ClientRunOptions) {
    this.limits = { ...GET_LIMITS, ...options.limits };
    this.#options = options;
    this.#retry = new RetryPolicy(this.limits, options.waitMs, options.retryForMs);
    const codecs = options.codecs.map(({ codec }) => codec.name);
    this.#hello = { agent: options.agent, codecs, run: randomBytes(16).toString('hex') };
  }

  /** Bytes that came over the network so far, frames included. */
  get bytesOnWire(): number {
    return this.#closedBytes + (this.#link?.bytesReceived ?? 0);
  }

  /** Connects and works until an attempt succeeds. Throws the failure that no other attempt shall follow. */
  async complete(work: RunWork): Promise<void> {
    const { signal } = this.#options;
    for (let reason: GetReason = 'first'; ; ) {
      try {
        const { link, manifest } = await this.#open();
        return await work.attempt(link, manifest, reason);
      } catch (error) {
        const failure = toWireBoundError(signal.aborted ? signal.reason : error);
        const pauseMs = signal.aborted ? undefined : this.#retry.pause(failure, work.progress);
        if (pauseMs === undefined) throw failure;
        reason = reasonOf(failure);
        work.retrying(failure);
        this.#drop(failure);
        await delay(pauseMs, undefined, { signal }).catch(() => undefined);
      }
    }
  }

  /**
   * Tells the server that the run has verified; `again` does so over a new connection, as often as it takes within
   * some seconds. False if the server was not told.
   */
  async deliver(
    verdict: Verdict,
    again: (link: Link, manifest: Manifest) => Promise<boolean>,
  ): Promise<boolean> {
    const { signal, retryForMs } = this.#options;
    const giveUpAt = performance.now() + this.limits.verdictMs;
    let delivered = (await this.#link?.conclude(verdict)) ?? false;
    while (!delivered && retryForMs > 0 && performance.now() < giveUpAt && !signal.aborted) {
      this.#drop(new WireBoundError('CONNECTION_LOST', 'the verdict was not delivered'));
      await delay(this.limits.leastBackoffMs, undefined, { signal }).catch(() => undefined);
      try {
        const { link, manifest } = await this.#open();
        const overdue = () => link.fail(new WireBoundError('IDLE', 'the verdict was not delivered in time'));
        const deadline = setTimeout(overdue, Math.max(0, giveUpAt - performance.now()));
        delivered = await again(link, manifest).finally(() => clearTimeout(deadline));
      } catch (error) {
        if (!isConnectionTrouble(toWireBoundError(error).code)) return false;
      }
    }
    return delivered;
  }

  /** Tells the server why the run has failed, if it still listens. */
  async giveUp({ code, message }: WireBoundError): Promise<void> {
    await this.#link?.conclude({ verified: false, code, message });
  }

  close(): void {
    this.#drop(new WireBoundError('CONNECTION_LOST', 'the run is over'));
  }

  async #open(): Promise<{ readonly link: Link; readonly manifest: Manifest }> {
    const { target, signal } = this.#options;
    const link = await Link.open(target, this.#hello, this.limits, signal);
    this.#link = link;
    return { link, manifest: await link.manifest(this.#hello.codecs) };
  }

  #drop(reason: WireBoundError): void {
    this.#closedBytes += this.#link?.bytesReceived ?? 0;
    this.#link?.fail(reason);
    this.#link = undefined;
  }
}

function reasonOf({ code }: WireBoundError): GetReason {
  if (code === 'DIGEST_MISMATCH') return 'mismatch';
  if (code === 'CODEC_FAILED') return 'codec';
  return code === 'PROTOCOL' ? 'protocol' : 'lost';
}
