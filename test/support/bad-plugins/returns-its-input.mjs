import { codecPlugin } from './parts.mjs';

export default codecPlugin('returns-its-input', { encode: (chunk) => chunk, decode: (payload) => payload });
