import { content, sourcePlugin } from './parts.mjs';

export default sourcePlugin('writes-outside', () => ({
  read: async (offset, into) =>
    content.copy(new Uint8Array(into.buffer), into.byteOffset, offset, offset + into.length + 8) &&
    Math.max(0, Math.min(into.length, content.length - offset)),
}));
