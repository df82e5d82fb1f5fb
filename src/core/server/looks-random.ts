/**
 * Above this, bits per byte, data has no use for a codec: already compressed or random data come out at 7.9
 * and more in a sample of 4 KiB, machine code and text well below.
 */
const RANDOM_ENTROPY = 7.7;

/** Whether a sample of some KiB is as even as random bytes: its Shannon entropy over single bytes, nothing more. */
export function looksRandom(sample: Uint8Array): boolean {
  const counts = new Uint32Array(256);
  for (const byte of sample) (counts[byte] as number)++;
  let entropy = 0;
  for (const count of counts) {
    if (count > 0) entropy -= (count / sample.length) * Math.log2(count / sample.length);
  }
  return entropy > RANDOM_ENTROPY;
}
