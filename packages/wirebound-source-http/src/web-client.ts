import { WireBoundError } from 'wirebound';
import { causeOf, TransientError } from './failures.js';
import type { HttpLimits } from './http-limits.js';
import type { WebAddress } from './web-address.js';

/** An answer whose body is being awaited; `release` it in any case. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  /** The body; a pause in it that is too long, or a cut, is a TransientError. */
  body(): AsyncGenerator<Uint8Array>;
  /** Lets go of the connection if the body was not read to its end. */
  release(): void;
}

/** Statuses that a place says no with; where it was redirected to may have been for a while only. */
const REFUSALS = new Set([401, 403, 404, 410]);

/** Asks one web server for one thing, again and again. */
export class WebClient {
  readonly #address: WebAddress;
  readonly #limits: HttpLimits;
  readonly #closing = new AbortController();
  /** Where redirects have led to. */
  #url: string;

  constructor(address: WebAddress, limits: HttpLimits) {
    this.#address = address;
    this.#limits = limits;
    this.#url = address.url;
  }

  /** Where the content was found, redirects followed. */
  get url(): string {
    return this.#url;
  }

  /** Asks. Rejects with a TransientError when no answer comes, with the signal's reason when that is aborted. */
  async ask(headers: Readonly<Record<string, string>>, signal?: AbortSignal): Promise<Answer> {
    const answer = await this.#ask(this.#url, headers, signal);
    if (this.#url === this.#address.url || !REFUSALS.has(answer.status)) return answer;
    answer.release();
    return this.#ask(this.#address.url, headers, signal);
  }

  /** Ends every request. */
  close(): void {
    this.#closing.abort(new WireBoundError('STOPPED', `${this.#address.label} was closed`));
  }

  async #ask(
    url: string,
    headers: Readonly<Record<string, string>>,
    signal: AbortSignal | undefined,
  ): Promise<Answer> {
    const { authorization, url: start } = this.#address;
    const own = authorization !== undefined && new URL(url).origin === new URL(start).origin;
    const idle = new IdleTimer(this.#limits.idleTimeoutMs);
    const signals = [idle.signal, this.#closing.signal, ...(signal === undefined ? [] : [signal])];
    const transient = (error: unknown): unknown => {
      idle.stop();
      if (this.#closing.signal.aborted) return this.#closing.signal.reason;
      if (signal?.aborted) return signal.reason;
      return new TransientError(
        `${this.#address.label}: ${idle.signal.aborted ? idle.reason : causeOf(error)}`,
      );
    };
    let response: Response;
    try {
      response = await fetch(url, {
        // A body that is encoded on the way has other ranges.
        headers: { 'accept-encoding': 'identity', ...headers, ...(own ? { authorization } : {}) },
        redirect: 'follow',
        signal: AbortSignal.any(signals),
      });
    } catch (error) {
      throw transient(error);
    }
    this.#url = response.url;
    const { status, body } = response;
    return {
      status,
      headers: response.headers,
      async *body() {
        try {
          for await (const piece of body ?? []) {
            idle.refresh();
            yield piece;
          }
        } catch (error) {
          throw transient(error);
        } finally {
          idle.stop();
        }
      },
      release() {
        idle.stop();
        if (body?.locked !== true) void body?.cancel().catch(() => undefined);
      },
    };
  }
}

/** Aborts when nothing happens for too long. */
class IdleTimer {
  readonly #controller = new AbortController();
  readonly #timer: NodeJS.Timeout;
  readonly reason: string;

  constructor(timeoutMs: number) {
    this.reason = `nothing came for ${timeoutMs / 1000} s`;
    this.#timer = setTimeout(() => this.#controller.abort(new Error(this.reason)), timeoutMs);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  refresh(): void {
    this.#timer.refresh();
  }

  stop(): void {
    clearTimeout(this.#timer);
  }
}
