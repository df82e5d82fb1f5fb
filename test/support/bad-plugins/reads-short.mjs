import { content, sourcePlugin } from './parts.mjs';

export default sourcePlugin('reads-short', () => ({
  read: async (offset, into) => content.copy(into, 0, offset, offset + 65_536),
}));
