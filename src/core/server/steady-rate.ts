/** A rate must show over this long, microseconds: what came during a pause is handed out at once after it. */
const LEAST_US = 20_000;

/** How fast a count of bytes grows. */
export class SteadyRate {
  readonly #counts: { readonly bytes: number; readonly atUs: number }[] = [];

  /** Bytes per second up to this count, since one that is `LEAST_US` old, or the first; 0 for the first. */
  add(bytes: number, atUs: number): number {
    const counts = this.#counts;
    counts.push({ bytes, atUs });
    while (counts.length > 2 && atUs - (counts[1] as { atUs: number }).atUs >= LEAST_US) void counts.shift();
    const [since] = counts as [{ bytes: number; atUs: number }];
    return atUs > since.atUs ? (bytes - since.bytes) / ((atUs - since.atUs) / 1e6) : 0;
  }
}
