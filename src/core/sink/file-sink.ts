import { rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { systemCode, WireBoundError } from '../errors.js';
import { escapeForTerminal } from '../escape.js';
import { BackgroundFlush } from './background-flush.js';
import { requireFreeSpace } from './free-space.js';
import { isPresent } from './is-present.js';
import { type OpenPartial, openPartial } from './open-partial.js';
import { publish } from './publish.js';
import type { Sink } from './sink.js';
import { sinkFailure } from './sink-failure.js';
import { targetExists } from './target-exists.js';
import { writeAll } from './write-all.js';

/** What a {@link FileSink} has to know about the file it takes. */
export interface FileSinkOptions {
  /** Bytes of the complete file. */
  readonly size: number;
  /** Replace what is under the name, at the moment of publishing. */
  readonly force: boolean;
  /** Modification time to give the file, milliseconds since the epoch. */
  readonly mtimeMs?: number;
  /** Make it executable for everyone who may read it. */
  readonly executable?: boolean;
}

/**
 * Opens a sink for the file `path` (absolute, its folder exists): takes and locks its partial and makes sure
 * that there is room for the rest. Throws SINK_EXISTS (without force), SINK_IN_USE, SINK_UNSAFE, SINK_FULL or
 * SINK_FAILED, and leaves nothing new behind then. The caller owns the sink and ends it by `commit` or `discard`.
 */
export async function openFileSink(path: string, options: FileSinkOptions): Promise<FileSink> {
  const partial = await openPartial(path);
  const sink = new FileSink(path, partial, options);
  try {
    if (!options.force && (await isPresent(path))) throw targetExists(path);
    await requireFreeSpace(dirname(path), Math.max(0, options.size - partial.size));
  } catch (error) {
    await sink.discard();
    throw error;
  }
  return sink;
}

/**
 * Writes a file under its partial name beside the target and publishes it complete. Nothing is preallocated, and
 * nothing under the final name is touched before `commit`. Made by {@link openFileSink}.
 */
export class FileSink implements Sink {
  readonly location: string;
  readonly partialPath: string;
  readonly #partial: OpenPartial;
  readonly #options: FileSinkOptions;
  readonly #flush: BackgroundFlush;
  #partialSize: number;
  #end = 0;
  #writing: Promise<void> = Promise.resolve();
  #state: 'open' | 'published' | 'closed' = 'open';

  constructor(path: string, partial: OpenPartial, options: FileSinkOptions) {
    this.location = path;
    this.partialPath = partial.path;
    this.#partialSize = partial.size;
    this.#partial = partial;
    this.#options = options;
    this.#flush = new BackgroundFlush(partial.handle);
  }

  /** Bytes the partial holds: what an earlier run had left until `keep`, then what was kept and written; they prove nothing. */
  get partialSize(): number {
    return this.#partialSize;
  }

  /** Reads what the partial holds at `offset` into memory of the caller; fewer bytes only at its end. */
  async readPartial(offset: number, into: Uint8Array): Promise<number> {
    let filled = 0;
    try {
      while (filled < into.length) {
        const left = into.length - filled;
        const { bytesRead } = await this.#partial.handle.read(into, filled, left, offset + filled);
        if (bytesRead === 0) break;
        filled += bytesRead;
      }
    } catch (error) {
      throw sinkFailure(error, 'read', this.partialPath, this.#removeHint());
    }
    return filled;
  }

  /** Keeps the first `bytes` bytes of the partial, which the caller has proved; writing then starts there. */
  async keep(bytes: number): Promise<void> {
    if (bytes > this.#partialSize) throw this.#misuse(`keep ${bytes} of ${this.#partialSize} bytes`);
    await this.#attempt('shorten', () => this.#partial.handle.truncate(bytes));
    this.#end = bytes;
    this.#partialSize = bytes;
  }

  write(spans: readonly Uint8Array[], offset: number): Promise<void> {
    this.#writing = this.#append(spans, offset);
    return this.#writing;
  }

  async commit(): Promise<void> {
    if (this.#state === 'published') return;
    if (this.#state === 'closed') throw this.#misuse('commit after discard');
    if (this.#end !== this.#options.size) {
      throw this.#misuse(`commit ${this.#end} of ${this.#options.size} bytes`);
    }
    const { handle, path, unlock } = this.#partial;
    await this.#attempt('finish', async () => {
      await this.#flush.settle();
      await handle.truncate(this.#end);
      await this.#applyMetadata();
      await whereSupported(handle.sync());
    });
    await this.#attempt('publish', () => publish(handle, path, this.location, this.#options.force));
    this.#state = 'published';
    await this.#attempt('close', unlock);
    await this.#attempt('close', () => handle.close());
  }

  async discard(): Promise<void> {
    if (this.#state !== 'open') return;
    this.#state = 'closed';
    const { handle, path, unlock } = this.#partial;
    // Whoever waits for these has been told already, or is about to be.
    await this.#writing.catch(() => {});
    await this.#flush.settle().catch(() => {});
    try {
      if ((await handle.stat()).size === 0) await rm(path, { force: true });
    } catch (error) {
      throw sinkFailure(error, 'remove', path);
    } finally {
      await unlock();
      await handle.close();
    }
  }

  async #append(spans: readonly Uint8Array[], offset: number): Promise<void> {
    if (this.#state !== 'open') throw this.#misuse('write after the end');
    if (offset !== this.#end) throw this.#misuse(`write at ${offset} instead of ${this.#end}`);
    const length = spans.reduce((sum, span) => sum + span.length, 0);
    await this.#attempt(`write byte ${offset} of ${this.#options.size} to`, async () => {
      await writeAll(this.#partial.handle, spans, offset);
      this.#flush.wrote(length);
    });
    this.#end = offset + length;
    this.#partialSize = Math.max(this.#partialSize, this.#end);
  }

  /** Only plain permission bits survive: set-user-id and its like are never taken from anywhere. */
  async #applyMetadata(): Promise<void> {
    const { handle } = this.#partial;
    const { mtimeMs, executable = false } = this.#options;
    const { mode } = await handle.stat();
    // Whom the umask let read the file when it was created may execute it.
    const wanted = (mode & 0o666) | (executable ? (mode & 0o444) >> 2 : 0);
    if (wanted !== (mode & 0o7777)) await whereSupported(handle.chmod(wanted));
    if (mtimeMs !== undefined && Number.isFinite(mtimeMs)) {
      // Half a microsecond more: the system rounds down, and a double may be just below the millisecond.
      await whereSupported(handle.utimes(Date.now() / 1000, (mtimeMs + 0.0005) / 1000));
    }
  }

  async #attempt(action: string, step: () => Promise<void>): Promise<void> {
    try {
      await step();
    } catch (error) {
      throw sinkFailure(error, action, this.partialPath, ['run the same line again to go on from here']);
    }
  }

  #removeHint(): string[] {
    return [`remove ${escapeForTerminal(this.partialPath)} and run the same line again`];
  }

  #misuse(what: string): WireBoundError {
    return new WireBoundError('INTERNAL', `${escapeForTerminal(this.partialPath)}: cannot ${what}`);
  }
}

/** A file system without modes, settable times or a flush says one of these; the bytes matter more. */
async function whereSupported(change: Promise<void>): Promise<void> {
  try {
    await change;
  } catch (error) {
    if (!['EPERM', 'EINVAL', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS'].includes(systemCode(error))) throw error;
  }
}
