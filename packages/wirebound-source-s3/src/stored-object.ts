import { setTimeout as delay } from 'node:timers/promises';
import { type ChunkSource, type SourceIdentity, WireBoundError } from 'wirebound';
import { replaced, serviceFailure } from './failures.js';
import type { ObjectHead, ObjectStore } from './object-store.js';

/** Requests in a row that may end before their range does. */
const ATTEMPTS = 3;
const PAUSE_MS = 200;
/** How long one look at the store answers for, milliseconds: clients may come in crowds. */
const LOOK_MS = 2_000;

/** An object, read by ranges that are held to the ETag it had when it was opened. */
export class StoredObject implements ChunkSource {
  readonly remote = true;
  readonly description = 'ranges, held to the ETag';
  readonly name: string;
  readonly size: number;
  readonly mtimeMs: number;
  readonly #label: string;
  readonly #store: ObjectStore;
  readonly #head: ObjectHead;
  #look: { readonly at: number; readonly head: Promise<ObjectHead> } | undefined;

  /** Takes the store over. `label` is the reference. */
  constructor(label: string, head: ObjectHead, store: ObjectStore) {
    this.name = label.slice(label.lastIndexOf('/') + 1);
    this.size = head.size;
    this.mtimeMs = head.changedAtMs;
    this.#label = label;
    this.#head = head;
    this.#store = store;
  }

  async read(offset: number, into: Uint8Array): Promise<number> {
    const length = Math.max(0, Math.min(into.length, this.size - offset));
    let done = 0;
    for (let failures = 0; done < length; ) {
      const before = done;
      let failure: unknown;
      try {
        for await (const piece of await this.#part(offset + done, offset + length - 1)) {
          const room = piece.subarray(0, length - done);
          into.set(room, done);
          done += room.length;
        }
      } catch (error) {
        failure = error;
        // The SDK has its own retries for requests; ours are for answers that break off.
        if (done === before) throw serviceFailure(this.#label, error);
      }
      if (done === length) break;
      failures = done > before ? 1 : failures + 1;
      if (failures >= ATTEMPTS) throw this.#short(offset + done, failure);
      await delay(PAUSE_MS * failures);
    }
    return length;
  }

  async identity(): Promise<SourceIdentity> {
    const now = performance.now();
    if (this.#look === undefined || now - this.#look.at > LOOK_MS) {
      // A store that does not answer has changed nothing that is known.
      this.#look = { at: now, head: this.#store.head().catch(() => this.#head) };
    }
    const { etag, changedAtMs } = await this.#look.head;
    return { key: `${this.#label} ${etag} ${this.size}`, size: this.size, changedAtMs };
  }

  async close(): Promise<void> {
    this.#store.close();
  }

  async #part(first: number, last: number): Promise<AsyncIterable<Uint8Array>> {
    const { etag, range, pieces } = await this.#store.part(first, last, this.#head.etag);
    // Not every store looks at If-Match.
    if (etag !== this.#head.etag) throw replaced(this.#label);
    if (range?.startsWith(`bytes ${first}-`) === true) return pieces;
    throw new WireBoundError('SOURCE_UNREADABLE', `${this.#label} does not come in ranges from this store`);
  }

  #short(at: number, cause: unknown): WireBoundError {
    const message = `${this.#label} ended at byte ${at} of ${this.size} (${ATTEMPTS} attempts)`;
    return new WireBoundError('SOURCE_UNREADABLE', message, { cause });
  }
}
