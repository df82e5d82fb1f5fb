/** Deterministic random bytes (mulberry32), so that a failure can be repeated. */
export function randomBytes(length: number, seed: number): Uint8Array {
  const bytes = new Uint8Array(length);
  let state = seed | 0;
  for (let index = 0; index < length; index++) {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    bytes[index] = (mixed ^ (mixed >>> 14)) >>> 24;
  }
  return bytes;
}

/** Log-like text of exactly `length` bytes that every codec can shrink; another text for another seed. */
export function textBytes(length: number, seed = 0): Uint8Array {
  const lines = Array.from(randomBytes(1024, seed), (value, index) => {
    return `2026-01-01 12:00:${index % 60} INFO request ${index} of run ${seed} took ${value} ms\n`;
  });
  return Uint8Array.from(Buffer.alloc(length, lines.join('')));
}

/** A copy in shared memory. */
export function toShared(bytes: Uint8Array): Uint8Array {
  const shared = new Uint8Array(new SharedArrayBuffer(bytes.length));
  shared.set(bytes);
  return shared;
}

/** A payload cut at many places, with flipped bits, with garbage behind it, and random bytes instead of it. */
export function* mutations(original: Uint8Array): Generator<Uint8Array> {
  // The slice of a Buffer would be a view.
  const payload = new Uint8Array(original);
  for (const cut of [1, 2, 3, 4, 5, 16, payload.length >> 1, payload.length - 2, payload.length - 1]) {
    yield payload.slice(0, Math.max(0, cut));
  }
  const places = new Uint32Array(randomBytes(4 * 200, 1).buffer);
  for (const place of places) {
    const flipped = payload.slice();
    const index = place % payload.length;
    flipped[index] = (flipped[index] ?? 0) ^ (1 << (place >>> 29));
    yield flipped;
  }
  yield Uint8Array.from([...payload, ...randomBytes(64, 2)]);
  for (let seed = 3; seed < 103; seed++) yield randomBytes(seed * 7, seed);
}

/** A payload behind, or overwritten at its beginning by, sizes of 2 and 4 GiB in the usual spellings. */
export function* forgedPrefixes(payload: Uint8Array): Generator<Uint8Array> {
  const sizes = [
    [0xff, 0xff, 0xff, 0xff],
    [0xff, 0xff, 0xff, 0x7f],
    [0x7f, 0xff, 0xff, 0xff],
    [0xff, 0xff, 0xff, 0xff, 0x0f],
    [0, 0, 0, 0x80, 0, 0, 0, 0],
  ];
  for (const size of sizes) {
    yield Uint8Array.from([...size, ...payload]);
    yield Uint8Array.from([...size, ...payload.subarray(size.length)]);
  }
}
