import { promisify } from 'node:util';
import zlib from 'node:zlib';
import type { ZstdEngine } from './zstd-engine.js';

/** The part of `node:zlib` that is there from Node 22.15 on. */
interface ZlibWithZstd {
  readonly zstdCompress?: (
    chunk: Uint8Array,
    options: object,
    done: (error: Error | null, payload: Buffer) => void,
  ) => void;
  readonly zstdDecompressSync?: (payload: Uint8Array, options: object) => Buffer;
  readonly constants: Readonly<Record<string, number>>;
}

/** Chunks have at most 16 MiB: no frame of ours needs a larger window. */
const WINDOW_LOG = 24;

/** Node's own Zstandard; undefined where this Node has none. */
export function nodeEngine(): ZstdEngine | undefined {
  const { zstdCompress, zstdDecompressSync, constants } = zlib as unknown as ZlibWithZstd;
  if (zstdCompress === undefined || zstdDecompressSync === undefined) return undefined;
  const compress = promisify(zstdCompress);
  const level = { [constants.ZSTD_c_compressionLevel as number]: 1 };
  const window = { [constants.ZSTD_d_windowLogMax as number]: WINDOW_LOG };
  return {
    name: 'node:zlib',
    compress: (chunk) => compress(chunk, { params: level, pledgedSrcSize: chunk.length }),
    decompress: (payload, rawLength) =>
      zstdDecompressSync(payload, { params: window, maxOutputLength: rawLength }),
  };
}
