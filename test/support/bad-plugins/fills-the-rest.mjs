import { content, sourcePlugin } from './parts.mjs';

export default sourcePlugin('fills-the-rest', () => ({
  read: async (offset, into) => content.copy(into.fill(0), 0, offset),
}));
