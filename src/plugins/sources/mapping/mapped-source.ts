import type { ChunkSource, Loan, SourceIdentity } from '../../../core/source/chunk-source.js';
import type { RegularFile } from '../regular-file.js';
import { libc } from './libc.js';
import { makeResident } from './make-resident.js';
import type { MappedWindows } from './mapped-windows.js';
import { Residency } from './residency.js';

/** The most bytes that are copied on this thread: waking another one would take longer. */
const FEW_PAGES = 256 * 1024;

/** A regular file whose pages are lent to the kernel from mappings, and read in the ordinary way for everyone else. */
export class MappedSource implements ChunkSource {
  readonly name: string;
  readonly size: number;
  readonly mtimeMs: number;
  readonly executable: boolean;
  readonly description: string;
  readonly #file: RegularFile;
  readonly #windows: MappedWindows;
  readonly #residency: Residency;
  #closing: Promise<void> | undefined;

  /** Takes over the file and the windows of it; so many bytes of it may be expected to stay in memory. */
  constructor(file: RegularFile, windows: MappedWindows, description: string, capacity: number) {
    this.name = file.name;
    this.size = file.size;
    this.mtimeMs = file.mtimeMs;
    this.executable = file.executable;
    this.description = description;
    this.#file = file;
    this.#windows = windows;
    this.#residency = new Residency(file.size, capacity, (offset, length) => this.#fetch(offset, length));
  }

  async read(offset: number, into: Uint8Array): Promise<number> {
    const few = into.length <= FEW_PAGES;
    if (few && this.#residency.check(offset, into.length)) return this.#file.readNow(offset, into);
    if (few) this.#residency.expect(offset + into.length);
    const length = await this.#file.read(offset, into);
    this.#residency.noteRead(offset, length);
    return length;
  }

  /** Not `async`: with the pages in memory it costs the loan and one resolved promise. */
  lend(offset: number, length: number): Promise<Loan | undefined> {
    if (this.#closing !== undefined || offset < 0 || length <= 0 || offset + length > this.size) {
      return Promise.resolve(undefined);
    }
    if (this.#residency.check(offset, length)) {
      const loan = this.#windows.lendNow(offset, length);
      if (loan !== undefined) return Promise.resolve(loan);
    }
    return this.#lendCold(offset, length);
  }

  identity(): Promise<SourceIdentity> {
    return this.#file.identity();
  }

  /** Resolves when every loan is back, everything is unmapped and the file is closed. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #lendCold(offset: number, length: number): Promise<Loan | undefined> {
    const loan = await this.#windows.lend(offset, length);
    if (loan === undefined) return undefined;
    if (await this.#residency.ensure(offset, length)) return loan;
    loan.release();
    return undefined;
  }

  async #fetch(offset: number, length: number): Promise<boolean> {
    const loan = await this.#windows.lend(offset, length);
    if (loan === undefined) return false;
    const resident = await makeResident(loan, offset, this.#file, libc.value);
    loan.release();
    return resident;
  }

  async #close(): Promise<void> {
    await this.#windows.close();
    await this.#residency.settle();
    await this.#file.close();
  }
}
