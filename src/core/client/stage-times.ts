/** What the digest thread of a client is doing: working, waiting for bytes, or waiting for the sink to make room. */
export type StageState = 'busy' | 'starved' | 'blocked';

/** Where a pipeline's time goes, milliseconds and bytes, from `restart` on. */
export class StageTimes {
  hashMs = 0;
  hashedBytes = 0;
  decodeMs = 0;
  decodedBytes = 0;
  #state: StageState = 'starved';
  #since = performance.now();
  #idleMs = { starved: 0, blocked: 0 };

  /** Begins to count anew, with nothing to do yet. */
  restart(): void {
    this.hashMs = this.hashedBytes = this.decodeMs = this.decodedBytes = 0;
    this.#idleMs = { starved: 0, blocked: 0 };
    this.#since = performance.now();
    this.#state = 'starved';
  }

  /** There is nothing more to wait for. */
  stop(): void {
    this.enter('busy');
  }

  /** The thread is in this state from now on. */
  enter(state: StageState): void {
    if (state === this.#state) return;
    this.#book();
    this.#state = state;
  }

  /** Nothing to do for want of bytes. */
  get starvedMs(): number {
    this.#book();
    return this.#idleMs.starved;
  }

  /** Nothing to do because all memory waits to be written. */
  get blockedMs(): number {
    this.#book();
    return this.#idleMs.blocked;
  }

  /** One chunk has been verified. */
  count(rawLength: number, hashMs: number, decodeMs: number): void {
    this.hashMs += hashMs;
    this.hashedBytes += rawLength;
    if (decodeMs === 0) return;
    this.decodeMs += decodeMs;
    this.decodedBytes += rawLength;
  }

  /** KiB/s; 0 before anything was hashed. */
  get digestRate(): number {
    return rate(this.hashedBytes, this.hashMs);
  }

  /** Raw KiB/s; 0 before anything was decoded. */
  get decodeRate(): number {
    return rate(this.decodedBytes, this.decodeMs);
  }

  #book(): void {
    const now = performance.now();
    if (this.#state !== 'busy') this.#idleMs[this.#state] += now - this.#since;
    this.#since = now;
  }
}

function rate(bytes: number, ms: number): number {
  return ms === 0 ? 0 : Math.round(bytes / 1.024 / ms);
}
