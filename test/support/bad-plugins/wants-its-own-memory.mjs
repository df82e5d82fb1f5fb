import { codecPlugin } from './parts.mjs';

export default codecPlugin('wants-its-own-memory', {
  encode(chunk) {
    if (!(chunk.buffer instanceof ArrayBuffer)) throw new TypeError('not my kind of memory');
    return new Uint8Array(chunk);
  },
});
