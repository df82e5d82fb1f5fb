import { constants } from 'node:fs';
import { type FileHandle, mkdir, open, rm, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The share of the free space that one spool file may take. */
const SHARE = 0.5;

/**
 * Space on disk for content that cannot be read twice, or only at a price. It has no name where the system
 * allows that, so nothing is left behind however the process ends.
 */
export class SpoolFile {
  /** Bytes that may be kept in it: half of what is free on that disk when it was opened. */
  readonly room: number;
  readonly #handle: FileHandle;
  readonly #path: string | undefined;
  #closing: Promise<void> | undefined;

  private constructor(handle: FileHandle, path: string | undefined, room: number) {
    this.#handle = handle;
    this.#path = path;
    this.room = room;
  }

  /** Opens one in `folder`, which is made where it is missing, or else in the system's folder for such files. */
  static async open(folder: string): Promise<SpoolFile> {
    try {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      return await SpoolFile.#openIn(folder);
    } catch {
      return await SpoolFile.#openIn(tmpdir());
    }
  }

  static async #openIn(folder: string): Promise<SpoolFile> {
    const name = `spool-${process.pid}-${Math.random().toString(36).slice(2)}`;
    const path = join(folder, name);
    const flags = constants.O_RDWR | constants.O_CREAT | constants.O_EXCL;
    const handle = await open(path, flags, 0o600);
    const { bavail, bsize } = await statfs(folder);
    const unlinked = process.platform === 'win32' ? false : await rm(path).then(() => true);
    return new SpoolFile(handle, unlinked ? undefined : path, bavail * bsize * SHARE);
  }

  /** Writes all of `bytes`; rejects with the system's error (ENOSPC when a write takes nothing). */
  async write(bytes: Uint8Array, offset: number): Promise<void> {
    for (let done = 0; done < bytes.length; ) {
      const { bytesWritten } = await this.#handle.write(bytes, done, bytes.length - done, offset + done);
      if (bytesWritten === 0)
        throw Object.assign(new Error('no room for the spool file'), { code: 'ENOSPC' });
      done += bytesWritten;
    }
  }

  /** Fills `into` as far as there is content; resolves to the bytes read. */
  async read(offset: number, into: Uint8Array): Promise<number> {
    let done = 0;
    while (done < into.length) {
      const { bytesRead } = await this.#handle.read(into, done, into.length - done, offset + done);
      if (bytesRead === 0) break;
      done += bytesRead;
    }
    return done;
  }

  /** Waits for what is under way; may be called twice. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    await this.#handle.close();
    if (this.#path !== undefined) await rm(this.#path, { force: true });
  }
}
