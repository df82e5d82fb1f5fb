import { CHUNK_FIELDS_LENGTH, DIGEST_LENGTH, HEADER_LENGTH } from '../framing/frame.js';
import type { Geometry } from '../framing/geometry.js';

/** Memory for all slots together, unless four slots need more. */
const RING_SIZE = 8 * 1024 * 1024;
const LEAST_SLOTS = 4;
/** Payloads start at multiples of this. */
const ALIGNMENT = 64;

/**
 * Shared memory in which chunks arrive, are verified and are written from, never copied. Chunk k lives in slot
 * k modulo the number of slots:
 *
 *     [ chunk fields 36 | payload, later the raw chunk: up to chunkSize | header of the next frame 8 ]
 *
 * so that one socket read takes in all of a chunk and the header after it.
 */
export class ChunkRing {
  readonly memory: SharedArrayBuffer;
  readonly slots: number;
  readonly #stride: number;

  constructor(geometry: Geometry) {
    const { chunkSize, count } = geometry;
    this.#stride = Math.ceil((ALIGNMENT + chunkSize + HEADER_LENGTH) / ALIGNMENT) * ALIGNMENT;
    const wanted = Math.max(LEAST_SLOTS, Math.floor(RING_SIZE / this.#stride));
    this.slots = Math.max(2, Math.min(wanted, count + 1));
    this.memory = new SharedArrayBuffer(this.slots * this.#stride);
  }

  /** Where the payload of chunk `index` starts in `memory`, bytes. */
  payloadOffset(index: number): number {
    return (index % this.slots) * this.#stride + ALIGNMENT;
  }

  /** Room for the content of chunk `index`'s frame (fields and payload of `payloadLength` bytes) and the next header. */
  frameSpace(index: number, payloadLength: number): Uint8Array {
    const start = this.payloadOffset(index) - CHUNK_FIELDS_LENGTH;
    return new Uint8Array(this.memory, start, CHUNK_FIELDS_LENGTH + payloadLength + HEADER_LENGTH);
  }

  /** The chunk itself, `length` bytes. */
  chunk(index: number, length: number): Uint8Array {
    return new Uint8Array(this.memory, this.payloadOffset(index), length);
  }

  /** The prefix digest that chunk `index` must have. */
  digest(index: number): Uint8Array {
    return new Uint8Array(this.memory, this.payloadOffset(index) - DIGEST_LENGTH, DIGEST_LENGTH);
  }
}
