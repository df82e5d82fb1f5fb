import { definePlugin } from 'wirebound';
import { createCodec } from './create-codec.js';
import { nodeEngine } from './node-engine.js';
import { wasmEngine } from './wasm-engine.js';

export default definePlugin({
  name: 'wirebound-codec-zstd',
  codecs: [createCodec(nodeEngine() ?? (await wasmEngine()))],
});
