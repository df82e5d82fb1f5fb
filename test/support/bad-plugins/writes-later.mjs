import { copy, sourcePlugin } from './parts.mjs';

export default sourcePlugin('writes-later', () => ({
  async read(offset, into) {
    setTimeout(() => copy(offset, into), 5);
    return copy(offset, into);
  },
}));
