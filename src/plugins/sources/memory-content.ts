import type { Loan } from '../../core/source/chunk-source.js';

/** Bytes in one piece of memory; chunk sizes up to this that divide it can always be lent. */
export const SEGMENT_SIZE = 4 * 1024 * 1024;

/** Content of unknown length, taken in piece by piece and kept in segments of {@link SEGMENT_SIZE}. */
export class MemoryContent {
  readonly #segments: Buffer[] = [];
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** The free rest of the last segment, to be filled from its start; say with {@link grow} how much was. */
  get room(): Buffer {
    const used = this.#size % SEGMENT_SIZE;
    if (used === 0 && this.#segments.length * SEGMENT_SIZE === this.#size) {
      this.#segments.push(Buffer.allocUnsafeSlow(SEGMENT_SIZE));
    }
    return this.#segment(this.#segments.length - 1).subarray(used);
  }

  /** Counts `length` bytes of {@link room} as content. */
  grow(length: number): void {
    this.#size += length;
  }

  /** Copies `bytes` to the end. */
  append(bytes: Uint8Array): void {
    for (let taken = 0; taken < bytes.length; ) {
      const room = this.room;
      const length = Math.min(room.length, bytes.length - taken);
      room.set(bytes.subarray(taken, taken + length));
      this.grow(length);
      taken += length;
    }
  }

  /** As {@link ChunkSource.read}. */
  read(offset: number, into: Uint8Array): number {
    const length = Math.max(0, Math.min(into.length, this.#size - offset));
    for (let done = 0; done < length; ) {
      const at = offset + done;
      const start = at % SEGMENT_SIZE;
      const segment = this.#segment(Math.floor(at / SEGMENT_SIZE));
      const piece = segment.subarray(start, Math.min(SEGMENT_SIZE, start + length - done));
      into.set(piece, done);
      done += piece.length;
    }
    return length;
  }

  /** As {@link ChunkSource.lend}; ordinary memory, but only where the span lies in one segment. */
  lend(offset: number, length: number): Loan | undefined {
    const start = offset % SEGMENT_SIZE;
    if (length <= 0 || start + length > SEGMENT_SIZE || offset + length > this.#size) return undefined;
    const segment = this.#segment(Math.floor(offset / SEGMENT_SIZE));
    return { bytes: segment.subarray(start, start + length), release: () => {} };
  }

  #segment(index: number): Buffer {
    const segment = this.#segments[index];
    if (segment === undefined) throw new RangeError(`segment ${index} of ${this.#segments.length}`);
    return segment;
  }
}
