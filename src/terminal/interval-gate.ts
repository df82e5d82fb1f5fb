/** Opens once for each key, then again only after an interval: keeps frequent news down to few lines. */
export class IntervalGate {
  readonly #nowMs: () => number;
  readonly #intervalMs: number;
  readonly #openedAtMs = new Map<string, number>();

  constructor(nowMs: () => number, intervalMs: number) {
    this.#nowMs = nowMs;
    this.#intervalMs = intervalMs;
  }

  /** Whether it is open now; if so, the interval begins again. */
  pass(key = ''): boolean {
    const nowMs = this.#nowMs();
    const openedAtMs = this.#openedAtMs.get(key);
    if (openedAtMs !== undefined && nowMs - openedAtMs < this.#intervalMs) return false;
    this.#openedAtMs.set(key, nowMs);
    return true;
  }

  forget(key = ''): void {
    this.#openedAtMs.delete(key);
  }
}
