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

/** What `read` of a right source does. */
export function copy(offset, into) {
  return offset < content.length ? content.copy(into, 0, offset) : 0;
}

/** A plugin with one source over `content`, but for `flaws`. */
export function sourcePlugin(name, flaws) {
  const source = {
    name,
    accepts: () => true,
    async open() {
      const right = {
        name: 'content.bin',
        size: content.length,
        read: async (offset, into) => copy(offset, into),
        close: async () => {},
      };
      return Object.defineProperties(right, Object.getOwnPropertyDescriptors(flaws()));
    },
  };
  return { name, apiVersion: 1, codecs: [], sources: [source] };
}

/** Breaks nothing. */
export default {
  name: 'right',
  apiVersion: 1,
  codecs: codecPlugin('right', {}).codecs,
  sources: sourcePlugin('right', () => ({})).sources,
};
