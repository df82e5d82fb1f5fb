/** What the digest thread of a client is doing: working, waiting for bytes, or waiting for the sink to make room. */
export type StageState = 'busy' | 'starved' | 'blocked';

const MIB = 1024 * 1024;
/** After so many bytes, what came before counts half: so many that a wait for a processor in between changes little. */
const RECENT_BYTES = 64 * MIB;
/** The first bytes touch the memory for the first time, and meet a process that is still starting. */
const FIRST_HASHED_BYTES = 2 * MIB;
const FIRST_DECODED_BYTES = 8 * MIB;

/** Where a pipeline's time goes, milliseconds, from `restart` on. */
export class StageTimes {
  hashMs = 0;
  decodeMs = 0;
  #hashing = new RecentRate(FIRST_HASHED_BYTES);
  #decoding = new RecentRate(FIRST_DECODED_BYTES);
  #state: StageState = 'starved';
  #since = performance.now();
  #idleMs = { starved: 0, blocked: 0 };

  /** Begins to count anew, with nothing to do yet. */
  restart(): void {
    this.hashMs = this.decodeMs = 0;
    this.#hashing = new RecentRate(FIRST_HASHED_BYTES);
    this.#decoding = new RecentRate(FIRST_DECODED_BYTES);
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
    this.#hashing.add(rawLength, hashMs);
    if (decodeMs === 0) return;
    this.decodeMs += decodeMs;
    this.#decoding.add(rawLength, decodeMs);
  }

  /** KiB/s; 0 before there is something to tell. */
  get digestRate(): number {
    return this.#hashing.value;
  }

  /** Raw KiB/s; 0 before there is something to tell. */
  get decodeRate(): number {
    return this.#decoding.value;
  }

  #book(): void {
    const now = performance.now();
    if (this.#state !== 'busy') this.#idleMs[this.#state] += now - this.#since;
    this.#since = now;
  }
}

/** Of work that has been done lately: what comes first is slow, and another codec may have been in use. */
class RecentRate {
  #skipBytes: number;
  #bytes = 0;
  #ms = 0;

  constructor(skipBytes: number) {
    this.#skipBytes = skipBytes;
  }

  add(bytes: number, ms: number): void {
    this.#skipBytes -= bytes;
    if (this.#skipBytes >= 0) return;
    if (this.#bytes >= RECENT_BYTES) {
      this.#bytes /= 2;
      this.#ms /= 2;
    }
    this.#bytes += bytes;
    this.#ms += ms;
  }

  /** KiB/s; 0 before the first. */
  get value(): number {
    return this.#ms === 0 ? 0 : Math.round(this.#bytes / 1.024 / this.#ms);
  }
}
