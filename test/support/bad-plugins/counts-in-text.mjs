import { copy, sourcePlugin } from './parts.mjs';

export default sourcePlugin('counts-in-text', () => ({
  read: async (offset, into) => String(copy(offset, into)),
}));
