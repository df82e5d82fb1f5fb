import { copy, sourcePlugin } from './parts.mjs';

export default sourcePlugin('fills-the-rest', () => ({
  read: async (offset, into) => copy(offset, into.fill(0)),
}));
