import type { ClientKeepalive } from '../framing/messages.js';
import { TYPICAL_RATE } from './codec-record.js';
import type { Forecast } from './payload-store.js';

/** A codec must be expected to take at most this share of the time of those before it, raw first: they win ties. */
const MARGIN = 0.9;
/** The digest thread waits for bytes more than this share of the time: the link is the limit, not the client. */
const STARVED = 0.4;
/** The client had no processor for more than this share of the time: that may be why bytes came late. */
const WAITED = 0.4;
/** Intervals shorter than this, seconds and bytes, say nothing: they may be nothing but a process that had to wait for its turn. */
const LEAST_SECONDS = 0.006;
const LEAST_BYTES = 64 * 1024;
/**
 * A rate is believed for so many times as long as measuring it took, and for twice as long as the one before: what
 * measuring costs stays a small share. Seconds at least and at most.
 */
const TRUST_INTERVALS = 32;
const LEAST_TRUST_S = 0.1;
const LONGEST_TRUST_S = 10;
/**
 * That a link carries more than was measured must show over this long, microseconds: after a pause of the client
 * its kernel hands out at once what came in the meantime.
 */
const LEAST_RISE_US = 20_000;
/**
 * Another codec is considered only where the link needs so many times as long as both ends for the best so far. Then
 * finding out what it does costs next to nothing; otherwise chunks would be encoded twice for little.
 */
const DOMINANT = 2.5;
/** And a second codec only where the link's rate was found twice, the second time at most by this factor another. */
const SAME_RATE = 2;
/** Rates taken for a client that has not reported any yet, bytes per second. */
const ASSUMED_DIGEST_RATE = 1.2e9;
const ASSUMED_DECODE_RATE = 1e9;

/**
 * Decides for one client, chunk by chunk, whether sending it encoded is faster than sending it raw. The model:
 * a chunk takes as long as the slowest of the link (payload bytes at the measured rate), the client (decode
 * and digest one after the other on its digest thread) and the encoder (nothing when it is encoded already).
 *
 * The link's rate is what the client reports of a measurement, or to have received while its digest thread starved.
 * While the client itself is the limit, the link is at least as fast as that; then raw is tried again now and then.
 */
export class CodecChooser {
  readonly #codecs: readonly number[];
  readonly #forecast: (index: number, codec: number) => Forecast | undefined;
  readonly #now: () => number;
  #last: ClientKeepalive | undefined;
  /** Reports of the last `LEAST_RISE_US`, and the one before them. */
  readonly #recent: ClientKeepalive[] = [];
  #linkRate = Number.POSITIVE_INFINITY;
  #measuredRate = 0;
  /** The rate that was measured last is about the one before. */
  #confirmed = false;
  /** For how long the last rate that was measured is believed, seconds; 0 after a sign that the link is faster. */
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

  /**
   * Takes a client's report. `measurement`: since the last one came nothing but raw chunks that had the link for
   * themselves. `serverWaited`: the time since the last one went into the server's own work.
   */
  report(report: ClientKeepalive, serverWaited: boolean, measurement = false): void {
    const last = this.#last;
    if (report.digestRate > 0) this.#digestRate = report.digestRate * 1024;
    if (report.decodeRate > 0) this.#decodeRate = report.decodeRate * 1024;
    if (last === undefined) {
      this.#last = report;
      this.#recent.push(report);
      return;
    }
    this.#last = report;
    const bytes = report.received - last.received;
    const seconds = (report.elapsedUs - last.elapsedUs) / 1e6;
    const starved = (report.starvedUs - last.starvedUs) / 1e6 / seconds > STARVED;
    const waited = serverWaited || (report.waitedUs - last.waitedUs) / 1e6 / seconds > WAITED;
    const telling = seconds >= LEAST_SECONDS && bytes >= LEAST_BYTES;
    const steadyRate = this.#steadyRate(report);
    if (telling && (measurement || (starved && !waited))) this.#measured(bytes / seconds, seconds);
    else if (measurement) this.#trustS = 0;
    else if (steadyRate > this.#linkRate) {
      // The link carries more than was measured; how much more, only raw chunks can tell.
      this.#linkRate = steadyRate;
      this.#trustS = 0;
      this.#trustedUntil = Math.min(this.#trustedUntil, this.#now() + LEAST_TRUST_S);
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
    if (this.#current === 0 && this.#linkRate === Number.POSITIVE_INFINITY) return 0;
    const forecasts = this.#codecs
      .map((codec) => ({ codec, forecast: this.#forecast(index, codec) }))
      .filter(
        (candidate): candidate is { codec: number; forecast: Forecast } => candidate.forecast !== undefined,
      );
    if (forecasts.length === 0) return 0; // says nothing about the link: the mode stays
    this.#forgetOldRate();
    let best: Way = { codec: 0, onLink: rawLength / this.#linkRate, elsewhere: rawLength / this.#digestRate };
    let encodeRate = TYPICAL_RATE;
    for (const [at, { codec, forecast }] of forecasts.entries()) {
      if (best.onLink < DOMINANT * best.elsewhere || (at > 0 && !this.#confirmed)) break;
      encodeRate = forecast.encodeRate ?? encodeRate; // of one that is not known: that of the codec before
      const way = this.#expect(rawLength, codec, forecast, encodeRate);
      const limit = forecast.untried ? way.elsewhere : slowest(way);
      if (limit >= slowest(best) * MARGIN) continue;
      best = way;
      if (forecast.untried) break;
    }
    this.#current = best.codec;
    return best.codec;
  }

  #expect(rawLength: number, codec: number, forecast: Forecast, encodeRate: number): Way {
    const atClient = rawLength / this.#digestRate + rawLength / this.#decodeRate;
    const atServer = forecast.ready ? 0 : rawLength / encodeRate;
    return { codec, onLink: forecast.length / this.#linkRate, elsewhere: Math.max(atClient, atServer) };
  }

  #measured(rate: number, seconds: number): void {
    const trustS = Math.max(LEAST_TRUST_S, TRUST_INTERVALS * seconds, 2 * this.#trustS);
    this.#trustS = Math.min(LONGEST_TRUST_S, trustS);
    this.#confirmed = rate < SAME_RATE * this.#measuredRate && this.#measuredRate < SAME_RATE * rate;
    this.#measuredRate = rate;
    this.#linkRate = rate;
    this.#trustedUntil = this.#now() + this.#trustS;
  }

  /** Encoded chunks do not show what the link could carry: when the last measurement is old, raw gets another chance. */
  #forgetOldRate(): void {
    if (this.#current === 0 || this.#now() < this.#trustedUntil) return;
    this.#linkRate = Number.POSITIVE_INFINITY;
  }
}

/** What to expect of one chunk: how long the link is busy with it, and the slower of the two ends, seconds. */
interface Way {
  readonly codec: number;
  readonly onLink: number;
  readonly elsewhere: number;
}

function slowest({ onLink, elsewhere }: Way): number {
  return Math.max(onLink, elsewhere);
}
