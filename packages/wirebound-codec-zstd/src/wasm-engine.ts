import { compress, decompress, init } from '@bokuweb/zstd-wasm';
import type { ZstdEngine } from './zstd-engine.js';

const LEVEL = 1;

/** Zstandard compiled to WebAssembly, for Nodes without their own. */
export async function wasmEngine(): Promise<ZstdEngine> {
  await init();
  return {
    name: 'WebAssembly',
    compress: (chunk) => compress(chunk as Buffer, LEVEL),
    decompress: (payload) => decompress(payload as Buffer),
  };
}
