import { type BigIntStats, readSync } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { systemCode, WireBoundError } from '../../core/errors.js';
import type { SourceIdentity } from '../../core/source/chunk-source.js';
import { quotePath } from './quote-path.js';

/** A regular file that is open for reading; what the `file`, `mmap` and `memory` sources have in common. */
export class RegularFile {
  readonly name: string;
  /** Bytes when it was opened; what grows on later is not read. */
  readonly size: number;
  readonly mtimeMs: number;
  readonly executable: boolean;
  readonly #path: string;
  readonly #handle: FileHandle;

  /** Takes over the handle. `path` is for messages. */
  constructor(path: string, name: string, handle: FileHandle, stats: BigIntStats) {
    this.#path = path;
    this.#handle = handle;
    this.name = name;
    this.size = Number(stats.size);
    this.mtimeMs = Number(stats.mtimeMs);
    this.executable = (stats.mode & 0o111n) !== 0n;
  }

  /** The open descriptor; it belongs to this object. */
  get descriptor(): number {
    return this.#handle.fd;
  }

  /** The path as messages show it: quoted. */
  get label(): string {
    return quotePath(this.#path);
  }

  /** As {@link ChunkSource.read}; a failing disk is SOURCE_UNREADABLE with the path, the offset and the system's code. */
  async read(offset: number, into: Uint8Array): Promise<number> {
    const length = Math.max(0, Math.min(into.length, this.size - offset));
    let done = 0;
    try {
      while (done < length) {
        const { bytesRead } = await this.#handle.read(into, done, length - done, offset + done);
        if (bytesRead === 0) break;
        done += bytesRead;
      }
    } catch (error) {
      throw this.#failure(`cannot be read at byte ${offset + done}`, error);
    }
    return done;
  }

  /** Like {@link read}, on this thread: for a few pages that are in memory, which are copied sooner than another thread is woken. */
  readNow(offset: number, into: Uint8Array): number {
    const length = Math.max(0, Math.min(into.length, this.size - offset));
    try {
      return readSync(this.descriptor, into, 0, length, offset);
    } catch (error) {
      throw this.#failure(`cannot be read at byte ${offset}`, error);
    }
  }

  /** As {@link ChunkSource.identity}, from the open descriptor: a rename over the path changes nothing. */
  async identity(): Promise<SourceIdentity> {
    let stats: BigIntStats;
    try {
      stats = await this.#handle.stat({ bigint: true });
    } catch (error) {
      throw this.#failure('cannot be examined', error);
    }
    const { dev, ino, size, mtimeMs, ctimeMs, mtimeNs, ctimeNs } = stats;
    return {
      key: `${dev}:${ino}:${size}:${mtimeNs}:${ctimeNs}`,
      size: Number(size),
      changedAtMs: Math.max(Number(mtimeMs), Number(ctimeMs)),
    };
  }

  /** Waits for reads that are running; may be called twice. */
  async close(): Promise<void> {
    // FileHandle.close counts running calls itself and, called again, hands out the same promise.
    await this.#handle.close();
  }

  #failure(what: string, error: unknown): WireBoundError {
    const code = systemCode(error);
    const reason = code === '' ? String(error) : code;
    return new WireBoundError('SOURCE_UNREADABLE', `${this.label} ${what} (${reason})`, { cause: error });
  }
}
