import { createCipheriv } from 'node:crypto';

/** Bytes that compress badly and of which no part is like another; the same each time, and quickly made. */
export function patternlessBytes(length: number): Uint8Array {
  const zeros = Buffer.alloc(16);
  return createCipheriv('aes-128-ctr', zeros, zeros).update(Buffer.alloc(length));
}
