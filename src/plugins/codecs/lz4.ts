import { compress } from 'lz4-napi';
import type { Codec } from '../../core/codec/codec.js';
import { definePlugin } from '../../core/plugin/plugin.js';
import { decodeLz4Block } from './lz4-block.js';

/** lz4-napi puts the raw size (u32, little endian) in front of a block. */
const SIZE_PREFIX = 4;

/** One LZ4 block per chunk (lz4_Block_format.md of lz4/lz4), without any length in front. */
const lz4: Codec = {
  name: 'lz4',
  encode: async (chunk) => (await compress(chunk)).subarray(SIZE_PREFIX),
  decode: decodeLz4Block,
};

export default definePlugin({ name: 'lz4', codecs: [lz4] });
