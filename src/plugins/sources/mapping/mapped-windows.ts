import { systemCode } from '../../../core/errors.js';
import type { Loan } from '../../../core/source/chunk-source.js';
import type { RegularFile } from '../regular-file.js';
import { checkMapping } from './check-mapping.js';
import { MappedWindow } from './mapped-window.js';
import type { Mapping, MappingBinding } from './mapping-binding.js';

/** The distance between two windows; a multiple of every page size. */
export const WINDOW_STRIDE = 2 ** 30;
/** How far a window reaches into the next one: the largest chunk, so that each chunk lies whole in one window. */
export const WINDOW_OVERLAP = 16 * 2 ** 20;

/**
 * The windows of one file, mapped when they are first needed and checked before they are lent. A binding
 * that lies or fails is not used again for this file; the next one takes over.
 */
export class MappedWindows {
  readonly #file: RegularFile;
  #bindings: readonly MappingBinding[];
  readonly #refusals = new Set<string>();
  /** By index; least recently used first. */
  readonly #windows = new Map<number, MappedWindow>();
  readonly #opening = new Map<number, Promise<MappedWindow | undefined>>();
  #closed = false;

  /** `bindings`: the ones that work here and take a file of this size, best first. The file stays the caller's. */
  constructor(file: RegularFile, bindings: readonly MappingBinding[]) {
    this.#file = file;
    this.#bindings = bindings;
  }

  /** The binding that maps what is not mapped yet; undefined when none is left. */
  get bindingName(): string | undefined {
    return this.#bindings[0]?.name;
  }

  /** Why bindings are not used any more, or a window could not be mapped. */
  get refusals(): readonly string[] {
    return [...this.#refusals];
  }

  /** Lends a span of a window that is mapped already; undefined otherwise. */
  lendNow(offset: number, length: number): Loan | undefined {
    if (this.#closed) return undefined;
    return this.#windows.get(windowIndex(offset))?.lend(offset, length);
  }

  /** Lends a span and maps its window for that if necessary; undefined when it cannot be mapped. */
  async lend(offset: number, length: number): Promise<Loan | undefined> {
    if (this.#closed) return undefined;
    const index = windowIndex(offset);
    const window = this.#windows.get(index) ?? (await this.#openOnce(index));
    if (this.#closed || window === undefined) return undefined;
    const loan = window.lend(offset, length);
    if (loan !== undefined) {
      this.#windows.delete(index);
      this.#windows.set(index, window);
    }
    return loan;
  }

  /** Lends nothing more, waits for every loan, unmaps everything. Call once. */
  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all(this.#opening.values());
    await Promise.all([...this.#windows.values()].map((window) => window.close()));
    this.#windows.clear();
  }

  #openOnce(index: number): Promise<MappedWindow | undefined> {
    let opening = this.#opening.get(index);
    if (opening === undefined) {
      opening = this.#open(index).finally(() => this.#opening.delete(index));
      this.#opening.set(index, opening);
    }
    return opening;
  }

  async #open(index: number): Promise<MappedWindow | undefined> {
    const offset = index * WINDOW_STRIDE;
    const length = Math.min(WINDOW_STRIDE + WINDOW_OVERLAP, this.#file.size - offset);
    for (let binding = this.#bindings[0]; binding !== undefined; binding = this.#bindings[0]) {
      try {
        const mapping = this.#map(binding, offset, length);
        const refusal = await this.#check(mapping, offset);
        if (refusal === undefined) {
          const window = new MappedWindow(offset, mapping);
          this.#windows.set(index, window);
          return window;
        }
        this.#refuse(binding, refusal);
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        if (systemCode(error) === 'ENOMEM') {
          this.#refusals.add(`${binding.name}: ${reason}`);
          return undefined;
        }
        this.#refuse(binding, reason);
      }
    }
    return undefined;
  }

  #map(binding: MappingBinding, offset: number, length: number): Mapping {
    try {
      return binding.map(this.#file.descriptor, offset, length);
    } catch (error) {
      if (systemCode(error) !== 'ENOMEM' || !this.#evict()) throw error;
      return binding.map(this.#file.descriptor, offset, length);
    }
  }

  /** Why the mapping must not be used (it is unmapped then), or undefined. */
  async #check(mapping: Mapping, offset: number): Promise<string | undefined> {
    let verdict: string;
    try {
      verdict = await checkMapping(mapping, offset, this.#file);
    } catch (error) {
      verdict = `no scratch file to check the mapping with (${systemCode(error) || String(error)})`;
    }
    if (verdict === 'same') return undefined;
    mapping.unmap();
    if (verdict === 'different') return 'maps wrong bytes';
    return verdict === 'shorter' ? 'the file has become shorter' : verdict;
  }

  #refuse(binding: MappingBinding, reason: string): void {
    this.#refusals.add(`${binding.name}: ${reason}`);
    this.#bindings = this.#bindings.filter((other) => other !== binding);
  }

  /** Unmaps the window that was used longest ago among those that nobody borrows from. */
  #evict(): boolean {
    for (const [index, window] of this.#windows) {
      if (!window.isIdle) continue;
      this.#windows.delete(index);
      window.unmap();
      return true;
    }
    return false;
  }
}

function windowIndex(offset: number): number {
  return Math.floor(offset / WINDOW_STRIDE);
}
