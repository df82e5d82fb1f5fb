import { createHash } from 'node:crypto';
import type { Codec } from '#dist/core/codec/codec.js';
import { definePlugin, type Plugin } from '#dist/index.js';
import lz4 from '#dist/plugins/codecs/lz4.js';

/** LZ4 under another name that remembers what it was asked to encode. */
export class WatchedCodec implements Codec {
  readonly name = 'watched';
  /** A digest of each chunk, as often as it was to be encoded. */
  readonly chunks: string[] = [];
  readonly #lz4: Codec;
  readonly #before: () => Promise<void> | void;

  /** `before` comes in front of each encode: it may wait, or throw. */
  constructor(before: () => Promise<void> | void = () => {}) {
    this.#lz4 = lz4.codecs[0] as Codec;
    this.#before = before;
  }

  /** As a plugin, for servers and clients of the library. */
  get plugin(): Plugin {
    return definePlugin({
      name: this.name,
      codecs: [
        {
          name: this.name,
          encode: (chunk) => this.encode(chunk),
          decode: (payload, rawLength) => this.decode(payload, rawLength),
        },
      ],
    });
  }

  /** How often a chunk was to be encoded. */
  count(chunk: Uint8Array): number {
    const wanted = digestOf(chunk);
    return this.chunks.filter((digest) => digest === wanted).length;
  }

  async encode(chunk: Uint8Array): Promise<Uint8Array> {
    this.chunks.push(digestOf(chunk));
    await this.#before();
    return await this.#lz4.encode(chunk);
  }

  decode(payload: Uint8Array, rawLength: number): Uint8Array | Promise<Uint8Array> {
    return this.#lz4.decode(payload, rawLength);
  }
}

function digestOf(chunk: Uint8Array): string {
  return createHash('md5').update(chunk).digest('hex');
}
