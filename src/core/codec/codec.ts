/**
 * A reversible transform of one chunk. The host never passes an empty chunk, checks every length that comes
 * back, and sends a chunk that did not shrink raw: a codec does none of that. Input is never changed and
 * never kept. Calls may overlap.
 */
export interface Codec {
  /** Lower-case letters, digits, `-`; what `--codec` calls it and what travels in the manifest. */
  readonly name: string;
  /**
   * Encodes a whole chunk into a fresh array, which the host owns. One that does not suit the codec may become an empty
   * result, or a longer one (at most by a quarter and 1 KiB), and goes raw; so does one that it throws at, which is told as
   * a failure.
   */
  encode(chunk: Uint8Array): Uint8Array | Promise<Uint8Array>;
  /**
   * The inverse: exactly `rawLength` bytes, or an error for a payload that is corrupt. `payload` comes from
   * a peer and may be anything; never allocate by a number found in it. The host copies the result before it calls again:
   * a synchronous codec may return the same memory every time.
   */
  decode(payload: Uint8Array, rawLength: number): Uint8Array | Promise<Uint8Array>;
}
