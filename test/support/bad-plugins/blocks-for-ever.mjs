import { codecPlugin } from './parts.mjs';

export default codecPlugin('blocks-for-ever', {
  decode() {
    for (;;);
  },
});
