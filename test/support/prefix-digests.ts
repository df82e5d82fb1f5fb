import { createHash } from 'node:crypto';

/** The chain of `bytes` by the book: SHA-256 of everything up to the end of each chunk, 32 bytes each. */
export function prefixDigests(bytes: Uint8Array, chunkSize: number): Buffer {
  const digests: Buffer[] = [];
  for (let end = chunkSize; end < bytes.length + chunkSize; end += chunkSize) {
    digests.push(createHash('sha256').update(bytes.subarray(0, end)).digest());
  }
  return Buffer.concat(digests);
}
