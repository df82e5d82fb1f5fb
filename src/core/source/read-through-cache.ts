import type { ChunkSource } from './chunk-source.js';
import type { SpoolFile } from './spool-file.js';

/** Bytes asked of the source at a time. */
export const BLOCK_SIZE = 1024 * 1024;
/** Blocks fetched ahead of whoever reads through the file. */
const AHEAD = 8;
/** Fetches at the same time, whoever they are for. */
const FETCHES = 16;
/** Blocks held in memory where there is no room for them on disk. */
const HELD = 32;

/**
 * Stands in front of a source of which every read costs: each block is read once, by one fetch however many wait
 * for it, ahead of whoever reads through the file, and kept on disk for everyone who comes later. What does not fit
 * there stays in memory for a while and may have to be read again.
 */
export class ReadThroughCache {
  readonly #source: Pick<ChunkSource, 'size' | 'read'>;
  readonly #spool: SpoolFile;
  readonly #room: number;
  /** 1 where a block is on disk. */
  readonly #kept: Uint8Array;
  /** Blocks on their way to the disk, and those held in memory instead; the oldest first. */
  readonly #blocks = new Map<number, Promise<Uint8Array>>();
  readonly #waiting: (() => void)[] = [];
  #keptBytes = 0;
  #fetching = 0;
  #closed = false;

  /** Takes the spool file over. `room`: bytes it may hold; half of what the disk has free unless given. */
  constructor(source: Pick<ChunkSource, 'size' | 'read'>, spool: SpoolFile, room = spool.room) {
    this.#source = source;
    this.#spool = spool;
    this.#room = room;
    this.#kept = new Uint8Array(Math.ceil(source.size / BLOCK_SIZE));
  }

  /** As {@link ChunkSource.read}. */
  async read(offset: number, into: Uint8Array): Promise<number> {
    const length = Math.max(0, Math.min(into.length, this.#source.size - offset));
    for (let done = 0; done < length; ) {
      const index = Math.floor((offset + done) / BLOCK_SIZE);
      const start = offset + done - index * BLOCK_SIZE;
      const piece = into.subarray(done, Math.min(length, done + BLOCK_SIZE - start));
      const read = await this.#readPiece(index, start, piece);
      done += read;
      if (read < piece.length) return done;
    }
    return length;
  }

  /** Starts no more fetches, waits for those under way and lets go of the disk; may be called twice. */
  async close(): Promise<void> {
    this.#closed = true;
    await Promise.allSettled(this.#blocks.values());
    this.#blocks.clear();
    await this.#spool.close();
  }

  async #readPiece(index: number, start: number, piece: Uint8Array): Promise<number> {
    this.#fetchAhead(index);
    if (this.#kept[index] === 1) return this.#spool.read(index * BLOCK_SIZE + start, piece);
    const block = await this.#block(index);
    const found = block.subarray(start, start + piece.length);
    piece.set(found);
    return found.length;
  }

  #fetchAhead(index: number): void {
    const end = Math.min(this.#kept.length, index + 1 + AHEAD);
    for (let ahead = index; ahead < end && (ahead === index || this.#fetching < AHEAD); ahead++) {
      // A failure is reported to whoever comes to need the block.
      if (this.#kept[ahead] === 0 && !this.#closed) void this.#block(ahead).catch(() => undefined);
    }
  }

  #block(index: number): Promise<Uint8Array> {
    const known = this.#blocks.get(index);
    if (known !== undefined) return known;
    const block = this.#fetch(index);
    this.#blocks.set(index, block);
    void this.#settle(index, block);
    return block;
  }

  async #fetch(index: number): Promise<Uint8Array> {
    this.#fetching++;
    try {
      if (this.#fetching > FETCHES) await new Promise<void>((resolve) => this.#waiting.push(resolve));
      const offset = index * BLOCK_SIZE;
      const block = Buffer.allocUnsafeSlow(Math.min(BLOCK_SIZE, this.#source.size - offset));
      return block.subarray(0, await this.#source.read(offset, block));
    } finally {
      this.#fetching--;
      this.#waiting.shift()?.();
    }
  }

  /** Moves a block that has come to the disk; one that failed is forgotten, so that the next reader tries again. */
  async #settle(index: number, fetched: Promise<Uint8Array>): Promise<void> {
    try {
      const block = await fetched;
      if (block.length === this.#lengthOf(index) && (await this.#keep(index, block))) {
        this.#blocks.delete(index);
      } else this.#forgetOldest();
    } catch {
      this.#blocks.delete(index);
    }
  }

  /** Whether the block is on disk now. */
  async #keep(index: number, block: Uint8Array): Promise<boolean> {
    if (this.#closed || this.#keptBytes + block.length > this.#room) return false;
    this.#keptBytes += block.length;
    try {
      await this.#spool.write(block, index * BLOCK_SIZE);
      this.#kept[index] = 1;
      return true;
    } catch {
      this.#keptBytes = this.#room; // a disk that is full or failing is left alone
      return false;
    }
  }

  #forgetOldest(): void {
    if (this.#blocks.size <= HELD) return;
    const [oldest] = this.#blocks.keys();
    if (oldest !== undefined) this.#blocks.delete(oldest);
  }

  #lengthOf(index: number): number {
    return Math.min(BLOCK_SIZE, this.#source.size - index * BLOCK_SIZE);
  }
}
