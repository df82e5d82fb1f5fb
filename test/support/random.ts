/** Reproducible randomness for trials: Marsaglia's xorshift (Journal of Statistical Software 8/14, 2003). */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = (seed ^ 0x9e3779b9) >>> 0 || 1;
  }

  /** A whole number from 0 to `limit` - 1. */
  below(limit: number): number {
    this.#state ^= this.#state << 13;
    this.#state ^= this.#state >>> 17;
    this.#state ^= this.#state << 5;
    this.#state >>>= 0;
    return this.#state % limit;
  }

  pick<T>(items: readonly T[]): T {
    return items[this.below(items.length)] as T;
  }

  bytes(length: number): Buffer {
    const bytes = Buffer.alloc(length);
    for (let at = 0; at < length; at++) bytes[at] = this.below(256);
    return bytes;
  }

  /** `bytes` with one to four things done to it that break protocols: flips, cuts, repeats, insertions, extremes. */
  mutate(bytes: Uint8Array): Buffer {
    let result: Buffer = Buffer.from(bytes);
    for (let left = 1 + this.below(4); left > 0; left--) {
      const at = this.below(result.length + 1);
      const some = this.below(16) + 1;
      const [head, tail] = [result.subarray(0, at), result.subarray(at)];
      const kinds = [
        () => Buffer.concat([head, this.bytes(some), tail]),
        () => Buffer.concat([head, tail.subarray(some)]),
        () => Buffer.concat([head, tail.subarray(0, some), tail]),
        () => head,
        () => Buffer.concat([head, Buffer.alloc(Math.min(some, tail.length), 0xff), tail.subarray(some)]),
        () => Buffer.concat([head, Buffer.alloc(Math.min(some, tail.length)), tail.subarray(some)]),
        () => {
          const flipped = Buffer.from(result);
          if (at < flipped.length) flipped.writeUInt8(flipped.readUInt8(at) ^ (1 << this.below(8)), at);
          return flipped;
        },
      ];
      result = this.pick(kinds)();
    }
    return result;
  }
}
