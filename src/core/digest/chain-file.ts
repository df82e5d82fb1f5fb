import { createHash, type Hash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import { DIGEST_LENGTH } from '../framing/frame.js';

const MAGIC = 'WBCHAIN\0';
const VERSION = 1;
const FIXED_HEADER = 28;
/** Bytes hashed in one turn of the event loop; a chain may be tens of MiB long. */
const PIECE = 1024 * 1024;

/** Which chain a file holds. */
export interface ChainKey {
  /** Opaque; see {@link SourceIdentity.key}. */
  readonly identityKey: string;
  /** Size of the file that the chain is of, bytes. */
  readonly size: number;
  readonly chunkSize: number;
}

/**
 * Reads and writes one complete chain as a file. Layout, little endian:
 *
 *     0   8  magic "WBCHAIN" NUL
 *     8   4  u32 version, 1
 *     12  4  u32 length k of the identity key in bytes
 *     16  8  u64 file size
 *     24  4  u32 chunk size
 *     28  k  identity key, UTF-8
 *         n  the chain, 32 bytes per chunk
 *        32  SHA-256 of everything before
 *
 * Reading parses nothing: it knows which header it wants to find.
 */
export class ChainFile {
  /** Bytes of the whole file. */
  readonly length: number;
  /** Bytes of the chain. */
  readonly chainLength: number;
  readonly #header: Buffer;

  constructor(key: ChainKey) {
    this.#header = headerOf(key);
    this.chainLength = Math.ceil(key.size / key.chunkSize) * DIGEST_LENGTH;
    this.length = this.#header.length + this.chainLength + DIGEST_LENGTH;
  }

  /** The chain, in memory of its own; undefined when the file is not exactly what {@link write} wrote for this key. */
  async read(file: FileHandle): Promise<Uint8Array | undefined> {
    if ((await file.stat()).size !== this.length) return undefined;
    const hash = createHash('sha256');
    const header = Buffer.alloc(this.#header.length);
    if (!(await readFully(file, header, 0, hash)) || !header.equals(this.#header)) return undefined;
    const chain = new Uint8Array(this.chainLength);
    if (!(await readFully(file, chain, header.length, hash))) return undefined;
    const digest = Buffer.alloc(DIGEST_LENGTH);
    if (!(await readFully(file, digest, header.length + chain.length))) return undefined;
    return digest.equals(hash.digest()) ? chain : undefined;
  }

  /** Writes to an empty file. */
  async write(file: FileHandle, chain: Uint8Array): Promise<void> {
    const hash = createHash('sha256');
    await writeFully(file, this.#header, hash);
    await writeFully(file, chain, hash);
    await writeFully(file, hash.digest());
  }
}

function headerOf({ identityKey, size, chunkSize }: ChainKey): Buffer {
  const key = Buffer.from(identityKey);
  const header = Buffer.alloc(FIXED_HEADER + key.length);
  header.write(MAGIC, 'latin1');
  header.writeUInt32LE(VERSION, 8);
  header.writeUInt32LE(key.length, 12);
  header.writeBigUInt64LE(BigInt(size), 16);
  header.writeUInt32LE(chunkSize, 24);
  header.set(key, FIXED_HEADER);
  return header;
}

/** False when the file ends early. */
async function readFully(
  file: FileHandle,
  into: Uint8Array,
  position: number,
  hash?: Hash,
): Promise<boolean> {
  for (let done = 0; done < into.length; ) {
    const wanted = Math.min(PIECE, into.length - done);
    const { bytesRead } = await file.read(into, done, wanted, position + done);
    if (bytesRead === 0) return false;
    hash?.update(into.subarray(done, done + bytesRead));
    done += bytesRead;
  }
  return true;
}

async function writeFully(file: FileHandle, bytes: Uint8Array, hash?: Hash): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    const { bytesWritten } = await file.write(bytes, done, Math.min(PIECE, bytes.length - done));
    hash?.update(bytes.subarray(done, done + bytesWritten));
    done += bytesWritten;
  }
}
