import { promisify } from 'node:util';
import { brotliCompress, brotliDecompressSync, constants } from 'node:zlib';
import { type Codec, definePlugin } from 'wirebound';

const compress = promisify(brotliCompress);
const params = { [constants.BROTLI_PARAM_QUALITY]: 4 };

/** One Brotli stream (RFC 7932) per chunk. */
const brotli: Codec = {
  name: 'brotli',
  encode: (chunk) => compress(chunk, { params }),
  decode: (payload, rawLength) => brotliDecompressSync(payload, { maxOutputLength: rawLength }),
};

export default definePlugin({ name: 'wirebound-codec-brotli', codecs: [brotli] });
