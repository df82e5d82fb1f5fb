import { codecPlugin } from './parts.mjs';

export default codecPlugin('forgets-large-chunks', {
  decode: (payload) => new Uint8Array(payload.subarray(0, 4 * 1024 * 1024)),
});
