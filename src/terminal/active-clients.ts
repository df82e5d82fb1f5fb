import { escapeForTerminal } from '../core/escape.js';
import { RateMeter } from '../core/progress.js';
import type { ServeEvent } from '../core/server/serve-event.js';
import { formatBytes, formatPercent, formatRate } from '../core/units.js';
import { describeProgress, formatEta } from './describe-progress.js';
import { describeCodec } from './serve-lines.js';

interface ActiveClient {
  readonly address: string;
  readonly meter: RateMeter;
  readonly size: number;
  /** Codec and link, ready to be appended. */
  readonly using: string;
}

/** The transfers that are running, as the events tell it. */
export class ActiveClients {
  readonly #nowMs: () => number;
  readonly #clients = new Map<number, ActiveClient>();

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  get count(): number {
    return this.#clients.size;
  }

  onEvent(event: ServeEvent): void {
    if (event.event === 'client.finished') this.#clients.delete(event.client);
    if (event.event !== 'client.progress') return;
    const known = this.#clients.get(event.client);
    known?.meter.update(event.bytes);
    const meter = known?.meter ?? new RateMeter(this.#nowMs, undefined, event.bytes);
    const { address, size } = event;
    this.#clients.set(event.client, { address, meter, size, using: describeCodec(event) });
  }

  /** Seconds until the last of them is done; undefined while one stands still, and when there are none. */
  slowestEtaSeconds(): number | undefined {
    let slowest: number | undefined;
    for (const { meter, size } of this.#clients.values()) {
      const eta = meter.etaSeconds(size);
      if (eta === undefined) return undefined;
      slowest = Math.max(slowest ?? 0, eta);
    }
    return slowest;
  }

  /** A line for each of the first `most`, and one that counts the others. */
  lines(most: number): readonly string[] {
    const shown = [...this.#clients].slice(0, most).map(([client, state]) => describeClient(client, state));
    const others = this.#clients.size - shown.length;
    return others > 0 ? [...shown, `  and ${others} more`] : shown;
  }

  /** All of them in one line; none when there are none. */
  overview(): readonly string[] {
    const all = [...this.#clients.values()];
    const [first] = all;
    if (first === undefined) return [];
    const slowest = all.reduce((a, b) => (shareDone(b) < shareDone(a) ? b : a), first);
    const rate = all.reduce((sum, { meter }) => sum + (meter.rate() ?? 0), 0);
    const percent = formatPercent(slowest.meter.bytes, slowest.size);
    const eta = this.slowestEtaSeconds();
    const count =
      all.length === 1
        ? `1 client active at ${percent}`
        : `${all.length} clients active, the slowest at ${percent}`;
    return [`${count}, ${formatRate(rate)}${eta === undefined ? '' : `, ETA ${formatEta(eta)}`}`];
  }
}

function shareDone({ meter, size }: ActiveClient): number {
  return size === 0 ? 1 : meter.bytes / size;
}

function describeClient(client: number, { address, meter, size, using }: ActiveClient): string {
  const name = `  client ${client}  ${escapeForTerminal(address)}`;
  if (meter.bytes >= size) return `${name}  all ${formatBytes(size)} sent, waiting for its verdict`;
  return `${name}  ${describeProgress(meter, size)}${using}`;
}
