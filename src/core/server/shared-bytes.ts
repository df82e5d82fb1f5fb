/** Bytes on loan from a {@link SharedBytes} cache. */
export interface PinnedBytes {
  readonly bytes: Uint8Array;
  /** Exactly once. */
  release(): void;
}

interface Slot {
  /** Undefined when the maker found that there is nothing worth keeping. */
  readonly bytes: Promise<Uint8Array | undefined>;
  /** 0 until it is made. */
  size: number;
  /** Handed out and not yet released, or waited for. */
  pins: number;
}

/**
 * Byte arrays by key, each made once however many ask at the same time, and kept while there is room: at most
 * `capacity` bytes, those handed out included, least recently used out first.
 */
export class SharedBytes {
  readonly #capacity: number;
  readonly #slots = new Map<string, Slot>();
  #total = 0;
  #pinned = 0;

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  /** Bytes held, handed out or not. */
  get total(): number {
    return this.#total;
  }

  /** Whether what is handed out already takes all the room: making more would go beyond the capacity. */
  get tight(): boolean {
    return this.#pinned >= this.#capacity;
  }

  /** Whether `key` is there, or being made: asking for it costs nothing more. */
  has(key: string): boolean {
    return this.#slots.has(key);
  }

  /** The size of what is kept under `key`, if it is made and kept. */
  sizeOf(key: string): number | undefined {
    return this.#slots.get(key)?.size || undefined;
  }

  /** Finds or makes the bytes of `key`. A failed `make` is not remembered, nor is one that yields nothing. */
  async get(key: string, make: () => Promise<Uint8Array | undefined>): Promise<PinnedBytes | undefined> {
    const slot = this.#slots.get(key) ?? { bytes: make(), size: 0, pins: 0 };
    this.#slots.delete(key);
    this.#slots.set(key, slot); // last in the map: most recently used
    // Pinned before the wait: what somebody is about to be given must not be evicted under them.
    if (slot.pins++ === 0) this.#pinned += slot.size;
    const bytes = await slot.bytes.catch((error: unknown) => {
      this.#drop(key, slot);
      throw error;
    });
    if (bytes === undefined) {
      this.#drop(key, slot);
      return undefined;
    }
    if (slot.size === 0) {
      slot.size = bytes.length;
      this.#total += slot.size;
      this.#pinned += slot.size;
    }
    this.#evict();
    return { bytes, release: () => this.#release(slot) };
  }

  #release(slot: Slot): void {
    if (--slot.pins === 0) this.#pinned -= slot.size;
    this.#evict();
  }

  #drop(key: string, slot: Slot): void {
    if (this.#slots.get(key) === slot) this.#slots.delete(key);
  }

  #evict(): void {
    if (this.#total <= this.#capacity) return;
    for (const [key, slot] of this.#slots) {
      if (slot.pins > 0 || slot.size === 0) continue;
      this.#slots.delete(key);
      this.#total -= slot.size;
      if (this.#total <= this.#capacity) return;
    }
  }
}
