import { content, sourcePlugin } from './parts.mjs';

export default sourcePlugin('counts-in-text', () => ({
  read: async (offset, into) => String(content.copy(into, 0, offset)),
}));
