import { createHash } from 'node:crypto';

/** The chain of `bytes`: SHA-256 of everything up to the end of each chunk, 32 bytes each. */
export function prefixDigests(bytes: Uint8Array, chunkSize: number): Buffer {
  const hash = createHash('sha256');
  const digests: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += chunkSize) {
    hash.update(bytes.subarray(at, at + chunkSize));
    digests.push(hash.copy().digest());
  }
  return Buffer.concat(digests);
}
