/** What a witness has found a link to carry, bytes per second, and for how long it has seen that, seconds. */
export interface Finding {
  readonly rate: number;
  readonly seconds: number;
}
