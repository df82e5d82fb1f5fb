import { codecPlugin } from './parts.mjs';

let upset = false;

export default codecPlugin('is-upset-by-damage', {
  encode: (chunk) => Uint8Array.from([7, ...chunk]),
  decode(payload) {
    upset ||= payload[0] !== 7;
    if (upset) throw new Error('I do not trust you any more');
    return payload.slice(1);
  },
});
