import { content, sourcePlugin } from './parts.mjs';

export default sourcePlugin('writes-later', () => ({
  async read(offset, into) {
    setTimeout(() => content.copy(into, 0, offset), 5);
    return content.copy(into, 0, offset);
  },
}));
