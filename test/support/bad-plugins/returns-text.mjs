import { codecPlugin } from './parts.mjs';

export default codecPlugin('returns-text', { encode: (chunk) => Buffer.from(chunk).toString('latin1') });
