/** A plugin with one codec that copies, but for `flaws`. */
export function codecPlugin(name, flaws) {
  const codec = {
    name,
    encode: (chunk) => new Uint8Array(chunk),
    decode: (payload) => new Uint8Array(payload),
    ...flaws,
  };
  return { name, apiVersion: 1, codecs: [codec], sources: [] };
}

/** What the sources hold: nothing in it repeats soon. */
export const content = Buffer.from(
  Uint32Array.from({ length: 300_001 }, (_, index) => Math.imul(index + 1, 0x9e3779b1)).buffer,
).subarray(0, 1_200_003);

/** A plugin with one source over `content`, but for `flaws`. */
export function sourcePlugin(name, flaws) {
  const source = {
    name,
    accepts: () => true,
    async open() {
      const right = {
        name: 'content.bin',
        size: content.length,
        read: async (offset, into) => content.copy(into, 0, offset),
        close: async () => {},
      };
      return Object.defineProperties(right, Object.getOwnPropertyDescriptors(flaws()));
    },
  };
  return { name, apiVersion: 1, codecs: [], sources: [source] };
}
