import { content, sourcePlugin } from './parts.mjs';

export default sourcePlugin('wanders', () => {
  let looks = 0;
  return { identity: async () => ({ key: `look ${looks++}`, size: content.length, changedAtMs: 0 }) };
});
