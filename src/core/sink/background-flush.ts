import type { FileHandle } from 'node:fs/promises';
import { systemCode } from '../errors.js';

/** Bytes between two flushes: enough to cost little, little enough that the last flush is short. */
const FLUSH_INTERVAL = 64 * 1024 * 1024;

/** Flushes a file to storage while it is being written, at most one flush at a time. */
export class BackgroundFlush {
  readonly #handle: Pick<FileHandle, 'datasync'>;
  #unflushed = 0;
  #running: Promise<void> | undefined;
  #failure: unknown;

  constructor(handle: Pick<FileHandle, 'datasync'>) {
    this.#handle = handle;
  }

  /**
   * Tells that `bytes` more were written; starts a flush when enough came together and none is running. Throws
   * the error of an earlier flush, each time: after one the system may have dropped pages for good.
   */
  wrote(bytes: number): void {
    if (this.#failure !== undefined) throw this.#failure;
    this.#unflushed += bytes;
    if (this.#running !== undefined || this.#unflushed < FLUSH_INTERVAL) return;
    this.#unflushed = 0;
    this.#running = this.#flush();
  }

  /** Waits for a flush that is running. Throws the error of any flush. */
  async settle(): Promise<void> {
    await this.#running;
    if (this.#failure !== undefined) throw this.#failure;
  }

  async #flush(): Promise<void> {
    try {
      await this.#handle.datasync();
    } catch (error) {
      if (systemCode(error) !== 'EINVAL') this.#failure = error;
    }
    this.#running = undefined;
  }
}
