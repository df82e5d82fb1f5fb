import { codecPlugin } from './parts.mjs';

export default codecPlugin('blocks-for-seconds', {
  encode(chunk) {
    const end = performance.now() + 1500;
    while (performance.now() < end);
    return new Uint8Array(chunk);
  },
});
