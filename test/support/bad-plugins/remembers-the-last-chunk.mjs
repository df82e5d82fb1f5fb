import { codecPlugin } from './parts.mjs';

let lastEncoded = new Uint8Array(0);
let lastDecoded = new Uint8Array(0);
const difference = (bytes, from) => bytes.map((value, index) => value ^ (from[index] ?? 0));

export default codecPlugin('remembers-the-last-chunk', {
  encode(chunk) {
    const payload = difference(new Uint8Array(chunk), lastEncoded);
    lastEncoded = new Uint8Array(chunk);
    return payload;
  },
  decode(payload) {
    const chunk = difference(new Uint8Array(payload), lastDecoded);
    lastDecoded = chunk;
    return chunk;
  },
});
