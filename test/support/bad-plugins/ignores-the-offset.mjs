import { content, sourcePlugin } from './parts.mjs';

export default sourcePlugin('ignores-the-offset', () => {
  let position = 0;
  return {
    async read(_, into) {
      const count = content.copy(into, 0, position);
      position += count;
      return count;
    },
  };
});
