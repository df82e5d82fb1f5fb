import { codecPlugin } from './parts.mjs';

export default codecPlugin('Has A Bad Name', {});
