import { content, sourcePlugin } from './parts.mjs';

export default sourcePlugin('has-one-cursor', () => {
  let position = 0;
  return {
    async read(offset, into) {
      position = offset;
      await new Promise(setImmediate);
      return content.copy(into, 0, position);
    },
  };
});
