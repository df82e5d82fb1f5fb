import { content, sourcePlugin } from './parts.mjs';

export default sourcePlugin('renames-itself', () => {
  let reads = 0;
  return {
    get name() {
      return `content-${reads}.bin`;
    },
    async read(offset, into) {
      reads++;
      return content.copy(into, 0, offset);
    },
  };
});
