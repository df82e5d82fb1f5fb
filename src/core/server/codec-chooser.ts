import type { ClientKeepalive } from '../framing/messages.js';
import type { TcpRecord } from '../transport/tcp-record.js';
import { TYPICAL_RATE } from './codec-record.js';
import { LinkRate } from './link-rate.js';
import type { Forecast } from './payload-store.js';

/** A codec must be expected to take at most this share of the time of those before it, raw first: they win ties. */
const MARGIN = 0.9;
/**
 * Another codec is considered only where the link needs so many times as long as both ends for the best so far. Then
 * finding out what it does costs next to nothing; otherwise chunks would be encoded twice for little. And a second codec
 * only where the link's rate was found twice.
 */
const DOMINANT = 2.5;
/**
 * To a crowd that lacks processors chunks go encoded that shrink to this share at most, and that are decoded at this share
 * of the rate of hashing at least; others are not worth the work.
 */
const CROWD_RATIO = 0.25;
const LEAST_DECODE_SHARE = 0.5;
/** Rates taken for a client that has not reported any yet, bytes per second. */
const ASSUMED_DIGEST_RATE = 1.2e9;
const ASSUMED_DECODE_RATE = 1e9;

/**
 * Decides for one client, chunk by chunk, whether sending it encoded is faster than sending it raw. The model:
 * a chunk takes as long as the slowest of the link (payload bytes at its rate), the client (decode and digest one
 * after the other on its digest thread) and the encoder (nothing when it is encoded already). Encoded chunks do not show
 * what the link could carry: when its rate is old, raw is tried again.
 */
export class CodecChooser {
  readonly #codecs: readonly number[];
  readonly #forecast: (index: number, codec: number) => Forecast | undefined;
  readonly #link: LinkRate;
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
    this.#link = new LinkRate(now);
  }

  /** What the link is taken to carry, bytes per second; infinite while that is not known. */
  get linkRate(): number {
    return this.#link.value;
  }

  /** See {@link LinkRate.look}. */
  look(record: TcpRecord, raw: boolean): void {
    this.#link.look(record, raw);
  }

  /** See {@link LinkRate.lookAgain}. */
  lookAgain(record: TcpRecord): void {
    this.#link.lookAgain(record);
  }

  /** Takes a client's report; see {@link LinkRate.report}. */
  report(report: ClientKeepalive, serverWaited: boolean, measurement = false): void {
    if (report.digestRate > 0) this.#digestRate = report.digestRate * 1024;
    if (report.decodeRate > 0) this.#decodeRate = report.decodeRate * 1024;
    this.#link.report(report, serverWaited, measurement);
  }

  /** The number of the codec for chunk `index` of `rawLength` bytes. */
  choose(index: number, rawLength: number): number {
    if (this.#current === 0 && this.#link.value === Number.POSITIVE_INFINITY) return 0;
    let best: Way | undefined;
    let encodeRate = TYPICAL_RATE;
    for (const codec of this.#codecs) {
      const forecast = this.#forecast(index, codec);
      if (forecast === undefined) continue;
      if (best === undefined) best = this.#raw(rawLength);
      else if (!this.#link.confirmed) break;
      if (best.onLink < DOMINANT * best.elsewhere) break;
      encodeRate = forecast.encodeRate ?? encodeRate; // of one that is not known: that of the codec before
      const way = this.#encoded(rawLength, codec, forecast, encodeRate);
      const limit = forecast.untried ? way.elsewhere : slowest(way);
      if (limit >= slowest(best) * MARGIN) continue;
      best = way;
      if (forecast.untried) break;
    }
    if (best === undefined) return 0; // says nothing about the link: the mode stays
    this.#current = best.codec;
    return best.codec;
  }

  /**
   * The number of the codec that makes chunk `index` the least work for a crowd, 0 if that is raw: the first one, the same
   * for all, where it shrinks the chunk well, or might, and where this client decodes it fast.
   */
  leastWork(index: number, rawLength: number): number {
    const [codec = 0] = this.#codecs;
    if (this.#decodeRate < LEAST_DECODE_SHARE * this.#digestRate) return 0;
    const forecast = this.#forecast(index, codec);
    if (forecast === undefined) return 0;
    return forecast.untried || forecast.length <= CROWD_RATIO * rawLength ? codec : 0;
  }

  /** What is best until a codec is better. A link whose rate is old is taken to be fast, so that raw is tried again. */
  #raw(rawLength: number): Way {
    if (this.#current !== 0 && this.#link.old) this.#link.forget();
    return { codec: 0, onLink: rawLength / this.#link.value, elsewhere: rawLength / this.#digestRate };
  }

  #encoded(rawLength: number, codec: number, forecast: Forecast, encodeRate: number): Way {
    const atClient = rawLength / this.#digestRate + rawLength / this.#decodeRate;
    const atServer = forecast.ready ? 0 : rawLength / encodeRate;
    return { codec, onLink: forecast.length / this.#link.value, elsewhere: Math.max(atClient, atServer) };
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
