import { codecPlugin } from './parts.mjs';

export default codecPlugin('throws-later', {
  encode(chunk) {
    setTimeout(() => {
      throw new Error('too late to tell');
    });
    return new Uint8Array(chunk);
  },
});
