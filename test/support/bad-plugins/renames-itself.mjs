import { copy, sourcePlugin } from './parts.mjs';

export default sourcePlugin('renames-itself', () => {
  let reads = 0;
  return {
    get name() {
      return `content-${reads}.bin`;
    },
    async read(offset, into) {
      reads++;
      return copy(offset, into);
    },
  };
});
