import { codecPlugin } from './parts.mjs';

export default codecPlugin('ignores-the-length', {
  decode(payload, rawLength) {
    const chunk = new Uint8Array(rawLength);
    chunk.set(payload.subarray(0, rawLength));
    return chunk;
  },
});
