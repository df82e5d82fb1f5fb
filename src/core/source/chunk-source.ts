/** A span of pages on loan from a source. Only the kernel may read `bytes` (see {@link ChunkSource.lend}). */
export interface Loan {
  /** Pass it to a socket write; never read, copy, hash, slice into a copy, log or keep it. */
  readonly bytes: Uint8Array;
  /** Gives the pages back; call exactly once, after the kernel is done with them (the write callback). */
  release(): void;
}

/** What a source looked like at one moment; equal keys mean the same content, as far as metadata can tell. */
export interface SourceIdentity {
  /** Opaque; for a file: device, inode, size, mtime and ctime in nanoseconds. */
  readonly key: string;
  /** Bytes there are now; may differ from {@link ChunkSource.size} when the file grew or shrank. */
  readonly size: number;
  /** When the content last changed, milliseconds since the epoch. */
  readonly changedAtMs: number;
}

/**
 * Where the bytes of one served file come from. Opened by a {@link SourceProvider}; used by many sessions
 * at once. `size` and `name` never change while it is open.
 */
export interface ChunkSource {
  /** What clients call the file: one path component. */
  readonly name: string;
  /** Bytes, a safe integer, 0 allowed. */
  readonly size: number;
  /** Modification time, milliseconds since the epoch, where there is one. */
  readonly mtimeMs?: number;
  readonly executable?: boolean;
  /** One short line for people: how the bytes are reached (`mmap through koffi`). */
  readonly description?: string;
  /**
   * Every read costs (a network, a service): the host then reads in larger pieces, ahead, each byte once for
   * all clients, and keeps what it has read for as long as it serves.
   */
  readonly remote?: boolean;
  /**
   * Reads up to `into.length` bytes at `offset` into memory of the caller (it may be shared memory).
   * Resolves to the bytes read: fewer only at the end of the file, 0 beyond it. Calls may overlap.
   */
  read(offset: number, into: Uint8Array): Promise<number>;
  /**
   * Lends pages that the kernel may send without a copy. Resolves once they can be sent without waiting
   * for storage, or to undefined when this span cannot be lent (then the caller uses `read`). The pages
   * may vanish under the reader when the file is truncated: user space must never touch them (SIGBUS);
   * a socket write of them fails with EFAULT.
   */
  lend?(offset: number, length: number): Promise<Loan | undefined>;
  /** Aborted, by the host, when a remote source is found to have another content for good. */
  readonly changed?: AbortSignal;
  /** What the source looks like now; sources that cannot change leave it out. */
  identity?(): Promise<SourceIdentity>;
  /** Releases everything once all loans are back. May be called twice. */
  close(): Promise<void>;
}

/** Content whose size is not known before its end; the host takes it in, on disk, before it serves. */
export interface StreamSource {
  /** What clients call the file: one path component. */
  readonly name: string;
  /** The content from its beginning; pieces of any size. An error in it ends the opening. */
  readonly stream: AsyncIterable<Uint8Array>;
  /** Bytes that must come, where that was announced: another length is an error. */
  readonly size?: number;
  readonly mtimeMs?: number;
  readonly executable?: boolean;
  readonly description?: string;
  /** Called once, after the stream has ended or failed. */
  close?(): Promise<void>;
}

/** What a provider is told when it opens a reference. */
export interface OpenOptions {
  /** Announce this name instead of the source's own. */
  readonly name?: string;
  /** Bytes of memory that a source may take for content it has to hold. */
  readonly memoryLimit: number;
  /** The user did not ask for this provider: SOURCE_UNAVAILABLE makes way for another. */
  readonly automatic?: boolean;
  /** Cancels the opening (standard input may take long). */
  readonly signal?: AbortSignal;
  /** Called as content is taken in, with the bytes so far. */
  readonly onProgress?: (bytes: number) => void;
}

/** Opens references (paths, `-`, URLs) as {@link ChunkSource}s, or as {@link StreamSource}s where `Opened` says so. */
export interface SourceProvider<Opened = ChunkSource> {
  /** What `--source` calls it. */
  readonly name: string;
  /** Whether this provider can open the reference, judged by its looks alone (no I/O). */
  accepts(reference: string): boolean;
  /** Throws a WireBoundError of the SOURCE family. */
  open(reference: string, options: OpenOptions): Promise<Opened>;
  /** Why it does not work on this machine; undefined when it does. */
  unavailable?(): string | undefined;
}
