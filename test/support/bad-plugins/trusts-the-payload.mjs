import { codecPlugin } from './parts.mjs';

export default codecPlugin('trusts-the-payload', {
  encode(chunk) {
    const payload = Buffer.alloc(4 + chunk.length);
    payload.writeUInt32LE(chunk.length);
    payload.set(chunk, 4);
    return payload;
  },
  decode(payload) {
    const chunk = new Uint8Array(Buffer.from(payload).readUInt32LE());
    chunk.set(payload.subarray(4));
    return chunk;
  },
});
