import type { Limit, Verdict } from '../framing/messages.js';
import type { Sent } from './send-chunks.js';

/** Block input is counted in units of this many bytes. */
const BLOCK = 512;

/** Counts what one server has moved, from its making on. */
export class Statistics {
  readonly #startedAt = performance.now();
  readonly #blocksAtStart = process.resourceUsage().fsRead;
  #activeSince: number | undefined;
  #activeMs = 0;
  readonly #limits = new Map<Limit, number>();
  bytesSent = 0;
  payloadBytes = 0;
  bytesOnWire = 0;
  chunksEncoded = 0;
  chunksRaw = 0;
  connections = 0;

  sent(sent: Sent): void {
    this.bytesSent += sent.rawBytes;
    this.payloadBytes += sent.payloadBytes;
    this.chunksEncoded += sent.encodedChunks;
    this.chunksRaw += sent.rawChunks;
  }

  /** A run has ended; `seconds` is how long it took. */
  concluded({ limitedBy }: Verdict, seconds: number): void {
    if (limitedBy !== undefined) this.#limits.set(limitedBy, (this.#limits.get(limitedBy) ?? 0) + seconds);
  }

  /** What limited most of the time of all transfers. */
  get limitedBy(): Limit | undefined {
    return [...this.#limits].sort(([, a], [, b]) => b - a)[0]?.[0];
  }

  /** From now on a transfer is under way, or none is. */
  set active(active: boolean) {
    const now = performance.now();
    if (this.#activeSince !== undefined) this.#activeMs += now - this.#activeSince;
    this.#activeSince = active ? now : undefined;
  }

  get activeSeconds(): number {
    const running = this.#activeSince === undefined ? 0 : performance.now() - this.#activeSince;
    return (this.#activeMs + running) / 1000;
  }

  get seconds(): number {
    return (performance.now() - this.#startedAt) / 1000;
  }

  /** Bytes this process has had read from storage, page faults on the mapped file included. */
  get bytesFromStorage(): number {
    return (process.resourceUsage().fsRead - this.#blocksAtStart) * BLOCK;
  }

  /** Peak resident memory of the process, bytes; pages of the mapped file count while they are mapped. */
  get peakMemory(): number {
    return process.resourceUsage().maxRSS * 1024;
  }
}
