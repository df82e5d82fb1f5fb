import { WireBoundError } from '../errors.js';

/** Chunk sizes are multiples of this, bytes. */
export const CHUNK_SIZE_STEP = 4 * 1024;
/** Smaller chunks waste digests. */
export const MIN_CHUNK_SIZE = 64 * 1024;
/** Larger chunks waste memory. */
export const MAX_CHUNK_SIZE = 16 * 1024 * 1024;
/** Chunk indexes travel as 32 bits. */
const MAX_CHUNKS = 0xffff_ffff;

/** How a file of `size` bytes is cut into chunks; the one place where offsets and lengths are derived. */
export class Geometry {
  readonly size: number;
  readonly chunkSize: number;
  /** Number of chunks; 0 for an empty file. */
  readonly count: number;

  /** Throws PROTOCOL when the numbers cannot describe a file; they may come from a peer. */
  constructor(size: number, chunkSize: number) {
    if (!isChunkSize(chunkSize)) {
      throw new WireBoundError(
        'PROTOCOL',
        `chunk size ${chunkSize} is not a multiple of 4 KiB from 64 KiB to 16 MiB`,
      );
    }
    if (!Number.isSafeInteger(size) || size < 0 || Math.ceil(size / chunkSize) > MAX_CHUNKS) {
      throw new WireBoundError('PROTOCOL', `file size ${size} is not a size that can be transferred`);
    }
    this.size = size;
    this.chunkSize = chunkSize;
    this.count = Math.ceil(size / chunkSize);
  }

  /** Where chunk `index` starts in the file, bytes. */
  offset(index: number): number {
    return index * this.chunkSize;
  }

  /** Bytes of chunk `index` before encoding: `chunkSize`, or less for the last one; never 0. */
  rawLength(index: number): number {
    return Math.min(this.chunkSize, this.size - this.offset(index));
  }
}

/** Whether `bytes` may be a chunk size. */
export function isChunkSize(bytes: number): boolean {
  return (
    Number.isInteger(bytes) &&
    bytes >= MIN_CHUNK_SIZE &&
    bytes <= MAX_CHUNK_SIZE &&
    bytes % CHUNK_SIZE_STEP === 0
  );
}
