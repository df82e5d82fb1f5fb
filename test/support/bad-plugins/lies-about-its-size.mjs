import { content, sourcePlugin } from './parts.mjs';

export default sourcePlugin('lies-about-its-size', () => ({ size: content.length + 10 }));
