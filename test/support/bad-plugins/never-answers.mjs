import { codecPlugin } from './parts.mjs';

export default codecPlugin('never-answers', { encode: () => new Promise(() => {}) });
