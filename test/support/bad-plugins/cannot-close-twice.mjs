import { sourcePlugin } from './parts.mjs';

export default sourcePlugin('cannot-close-twice', () => {
  let open = true;
  return {
    async close() {
      if (!open) throw new Error('closed already');
      open = false;
    },
  };
});
