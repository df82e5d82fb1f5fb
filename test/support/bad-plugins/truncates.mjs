import { codecPlugin } from './parts.mjs';

export default codecPlugin('truncates', { decode: (payload) => payload.slice(1) });
