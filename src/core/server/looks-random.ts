/**
 * Above this, bits per byte, data has no use for a codec: already compressed or random data come out at 7.9
 * and more in a sample of some KiB, machine code and text well below.
 */
const RANDOM_ENTROPY = 7.7;

/** Memory that is used again: this is done for every chunk, and must cost nothing beside sending it. */
const COUNTS = new Uint32Array(256);

/** Whether a sample of some KiB is as even as random bytes: its Shannon entropy over single bytes, nothing more. */
export function looksRandom(sample: Uint8Array): boolean {
  const { length } = sample;
  COUNTS.fill(0);
  for (let at = 0; at < length; at++) (COUNTS[sample[at] as number] as number)++;
  let sum = 0;
  for (let value = 0; value < 256; value++) {
    const count = COUNTS[value] as number;
    if (count > 0) sum += count * Math.log2(count);
  }
  return Math.log2(length) - sum / length > RANDOM_ENTROPY;
}
