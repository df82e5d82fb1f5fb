import type { ClientKeepalive } from '../framing/messages.js';
import type { Forecast } from './payload-store.js';

/** An encoded chunk must be expected to take at most this share of a raw one's time: raw wins ties. */
const MARGIN = 0.9;
/** The digest thread waits for bytes more than this share of the time: the link is the limit, not the client. */
const STARVED = 0.6;
/** Intervals shorter than this, seconds and bytes, say nothing. */
const LEAST_SECONDS = 0.0002;
const LEAST_BYTES = 64 * 1024;
/**
 * A rate measured over this many bytes is believed for this long, seconds; over fewer, for a few times the
 * interval, and for twice as long as before where it says about the same as the one before.
 */
const SOLID_BYTES = 1024 * 1024;
const LONG_TRUST_S = 10;
const SHORT_TRUST_S = 0.1;
const SHORT_TRUST_INTERVALS = 8;
/** Rates that differ by less than this factor say about the same. */
const SAME_WITHIN = 1.5;
/**
 * That a link carries more than was measured must show over this long, microseconds: after a pause of the client
 * its kernel hands out at once what came in the meantime.
 */
const LEAST_RISE_US = 20_000;
/** Rates taken for a client that has not reported any yet, bytes per second. */
const ASSUMED_DIGEST_RATE = 1.2e9;
const ASSUMED_DECODE_RATE = 1e9;
/** An encode rate to reckon with before the first encode, bytes per second. */
const ASSUMED_ENCODE_RATE = 4e8;

/** How many times as long as an encode the best known choice must take before an untried codec is tried. */
const EXPLORE_ABOVE = 2;

/**
 * Decides for one client, chunk by chunk, whether sending it encoded is faster than sending it raw. The model:
 * a chunk takes as long as the slowest of the link (payload bytes at the measured rate), the client (decode
 * and digest one after the other on its digest thread) and the encoder (nothing when it is encoded already).
 *
 * The link's rate is what the client reports to have received while its digest thread starved. While the client
 * itself is the limit, the link is at least as fast as that; then raw is tried again now and then.
 */
export class CodecChooser {
  readonly #codecs: readonly number[];
  readonly #forecast: (index: number, codec: number) => Forecast | undefined;
  readonly #now: () => number;
  #last: ClientKeepalive | undefined;
  /** Reports of the last `LEAST_RISE_US`, and the one before them. */
  readonly #recent: ClientKeepalive[] = [];
  #linkRate = Number.POSITIVE_INFINITY;
  /** The last rate that was measured, bytes per second, and for how long it was believed, seconds. */
  #measuredRate = 0;
  #trustS = 0;
  #trustedUntil = 0;
  #digestRate = ASSUMED_DIGEST_RATE;
  #decodeRate = ASSUMED_DECODE_RATE;
  #current = 0;

  /**
   * `codecs`: the store's numbers of those that the client can decode, in order of preference; `now` is a
   * monotonic clock in seconds.
   */
  constructor(
    codecs: readonly number[],
    forecast: (index: number, codec: number) => Forecast | undefined,
    now: () => number = () => performance.now() / 1000,
  ) {
    this.#codecs = codecs;
    this.#forecast = forecast;
    this.#now = now;
  }

  /** What the link is taken to carry, bytes per second; infinite while that is not known. */
  get linkRate(): number {
    return this.#linkRate;
  }

  /** Takes a client's report; `serverWaited`: the time since the last one went into the server's own work. */
  report(report: ClientKeepalive, serverWaited: boolean): void {
    const last = this.#last;
    if (report.digestRate > 0) this.#digestRate = report.digestRate * 1024;
    if (report.decodeRate > 0) this.#decodeRate = report.decodeRate * 1024;
    if (last === undefined) {
      this.#last = report;
      this.#recent.push(report);
      return;
    }
    const bytes = report.received - last.received;
    const seconds = (report.elapsedUs - last.elapsedUs) / 1e6;
    if (seconds < LEAST_SECONDS || bytes < LEAST_BYTES) return;
    this.#last = report;
    const starved = (report.starvedUs - last.starvedUs) / 1e6 / seconds;
    const steadyRate = this.#steadyRate(report);
    if (starved > STARVED && !serverWaited) this.#measured(bytes / seconds, bytes, seconds);
    else if (steadyRate > this.#linkRate) {
      // The link carries more than was measured; how much more, only raw chunks can tell.
      this.#linkRate = steadyRate;
      this.#trustedUntil = Math.min(this.#trustedUntil, this.#now() + SHORT_TRUST_S);
    }
  }

  /** Bytes per second up to this report, since one that is `LEAST_RISE_US` old, or the first. */
  #steadyRate(report: ClientKeepalive): number {
    const recent = this.#recent;
    recent.push(report);
    while (report.elapsedUs - (recent[1] as ClientKeepalive).elapsedUs >= LEAST_RISE_US) void recent.shift();
    const [since] = recent as [ClientKeepalive];
    return (report.received - since.received) / ((report.elapsedUs - since.elapsedUs) / 1e6);
  }

  /** The number of the codec for chunk `index` of `rawLength` bytes. */
  choose(index: number, rawLength: number): number {
    const forecasts = this.#codecs
      .map((codec) => ({ codec, forecast: this.#forecast(index, codec) }))
      .filter(
        (candidate): candidate is { codec: number; forecast: Forecast } => candidate.forecast !== undefined,
      );
    if (forecasts.length === 0) return 0; // says nothing about the link: the mode stays
    this.#forgetOldRate();
    const raw = Math.max(rawLength / this.#linkRate, rawLength / this.#digestRate);
    let best = { codec: 0, seconds: raw * MARGIN };
    for (const { codec, forecast } of forecasts) {
      if (forecast.untried && this.#mayExplore(rawLength, best.seconds)) {
        best = { codec, seconds: 0 };
        break;
      }
      const seconds = this.#encodedSeconds(rawLength, forecast);
      if (seconds < best.seconds) best = { codec, seconds };
    }
    this.#current = best.codec;
    return best.codec;
  }

  /** Where the link takes much longer than an encode, finding out what a codec can do costs next to nothing. */
  #mayExplore(rawLength: number, bestSeconds: number): boolean {
    return bestSeconds > (EXPLORE_ABOVE * rawLength) / ASSUMED_ENCODE_RATE;
  }

  #encodedSeconds(rawLength: number, forecast: Forecast): number {
    const onLink = forecast.length / this.#linkRate;
    const atClient = rawLength / this.#digestRate + rawLength / this.#decodeRate;
    const atServer = forecast.ready ? 0 : rawLength / (forecast.encodeRate ?? ASSUMED_ENCODE_RATE);
    return Math.max(onLink, atClient, atServer);
  }

  #measured(rate: number, bytes: number, seconds: number): void {
    const same = rate < this.#measuredRate * SAME_WITHIN && rate > this.#measuredRate / SAME_WITHIN;
    const shortly = Math.max(SHORT_TRUST_S, SHORT_TRUST_INTERVALS * seconds, same ? 2 * this.#trustS : 0);
    this.#trustS = bytes >= SOLID_BYTES ? LONG_TRUST_S : Math.min(LONG_TRUST_S, shortly);
    this.#linkRate = this.#measuredRate = rate;
    this.#trustedUntil = Math.max(this.#trustedUntil, this.#now() + this.#trustS);
  }

  /** Encoded chunks do not show what the link could carry: when the last measurement is old, raw gets another chance. */
  #forgetOldRate(): void {
    if (this.#current === 0 || this.#now() < this.#trustedUntil) return;
    this.#linkRate = Number.POSITIVE_INFINITY;
  }
}
