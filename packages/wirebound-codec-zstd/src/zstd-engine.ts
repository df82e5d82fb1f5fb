/** A Zstandard implementation. */
export interface ZstdEngine {
  /** For people. */
  readonly name: string;
  compress(chunk: Uint8Array): Uint8Array | Promise<Uint8Array>;
  /** Never more than `rawLength` bytes. */
  decompress(payload: Uint8Array, rawLength: number): Uint8Array;
}
