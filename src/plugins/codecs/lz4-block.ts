import { readFileSync } from 'node:fs';

/** TypeScript knows it only together with a browser. */
declare const WebAssembly: {
  readonly Module: new (binary: Uint8Array) => object;
  readonly Instance: new (module: object) => { readonly exports: unknown };
};

/** What `lz4-block.wat` exports. */
interface Lz4Block {
  readonly memory: { readonly buffer: ArrayBuffer; grow(pages: number): void };
  /** Bytes written from `out` on, or -1 when the block is corrupt. */
  decode(from: number, fromEnd: number, out: number, outEnd: number): number;
}

const PAGE = 64 * 1024;
/** Bytes behind each span that may be read or written; a power of two. */
const SPARE = 32;

let block: Lz4Block | undefined;

/**
 * Decodes one LZ4 block into exactly `rawLength` bytes, which lie in memory that the next call uses again. Throws for a
 * block that is corrupt, or holds another number of bytes.
 */
export function decodeLz4Block(payload: Uint8Array, rawLength: number): Uint8Array {
  block ??= loadBlock();
  const out = Math.ceil((payload.length + SPARE) / SPARE) * SPARE;
  const missing = out + rawLength + SPARE - block.memory.buffer.byteLength;
  if (missing > 0) block.memory.grow(Math.ceil(missing / PAGE));
  const memory = new Uint8Array(block.memory.buffer);
  memory.set(payload);
  const length = block.decode(0, payload.length, out, out + rawLength);
  if (length < 0) throw new Error('the payload is not an LZ4 block of that size');
  if (length !== rawLength) throw new Error(`the payload holds ${length} bytes`);
  return memory.subarray(out, out + rawLength);
}

function loadBlock(): Lz4Block {
  const module = new WebAssembly.Module(readFileSync(new URL('lz4-block.wasm', import.meta.url)));
  return new WebAssembly.Instance(module).exports as Lz4Block;
}
