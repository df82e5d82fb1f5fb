import { codecPlugin } from './parts.mjs';

export default codecPlugin('changes-its-input', {
  encode: (chunk) => new Uint8Array(chunk.reverse()),
  decode: (payload) => new Uint8Array(payload).reverse(),
});
