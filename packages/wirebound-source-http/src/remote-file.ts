import { type ChunkSource, type SourceIdentity, WireBoundError } from 'wirebound';
import { changed, statusFailure, TransientError } from './failures.js';
import type { HttpLimits } from './http-limits.js';
import { retry } from './retry.js';
import { isSame, preconditions, type Validator, validatorOf } from './validator.js';
import type { WebAddress } from './web-address.js';
import type { Answer, WebClient } from './web-client.js';

/** How long one look at the server answers for, milliseconds: clients may come in crowds. */
const LOOK_MS = 2_000;

/** What was learned when the file was found. */
export interface FoundFile {
  readonly address: WebAddress;
  readonly size: number;
  readonly validator: Validator;
}

/** A file behind a URL, read by ranges; the content it had when it was opened, or an error. */
export class RemoteFile implements ChunkSource {
  readonly remote = true;
  readonly name: string;
  readonly size: number;
  readonly mtimeMs?: number;
  readonly description: string;
  readonly identity?: () => Promise<SourceIdentity>;
  readonly #client: WebClient;
  readonly #limits: HttpLimits;
  readonly #label: string;
  readonly #validator: Validator;
  #look: { readonly at: number; readonly identity: Promise<SourceIdentity> } | undefined;

  /** Takes the client over. */
  constructor({ address, size, validator }: FoundFile, client: WebClient, limits: HttpLimits) {
    this.name = address.name;
    this.size = size;
    this.#label = address.label;
    this.#client = client;
    this.#limits = limits;
    this.#validator = validator;
    const { etag, lastModified } = validator;
    const changedAtMs = Date.parse(lastModified ?? '');
    if (Number.isFinite(changedAtMs)) this.mtimeMs = changedAtMs;
    const proof = etag !== undefined ? 'ETag' : lastModified !== undefined ? 'Last-Modified' : undefined;
    this.description =
      proof === undefined
        ? 'ranges; the server tells no ETag, so a change may go unnoticed'
        : `ranges, held to the ${proof}`;
    if (proof !== undefined) this.identity = () => this.#identify();
  }

  async read(offset: number, into: Uint8Array): Promise<number> {
    const length = Math.max(0, Math.min(into.length, this.size - offset));
    let done = 0;
    const fill = async () => {
      while (done < length) {
        const first = offset + done;
        const answer = await this.#client.ask({
          ...preconditions(this.#validator),
          range: `bytes=${first}-${offset + length - 1}`,
        });
        try {
          this.#check(answer, first);
          for await (const piece of answer.body()) {
            const room = piece.subarray(0, length - done);
            into.set(room, done);
            done += room.length;
          }
        } finally {
          answer.release();
        }
        if (done < length)
          throw new TransientError(`${this.#label} ended at byte ${offset + done} of ${this.size}`);
      }
    };
    await retry(this.#limits, fill, () => done);
    return length;
  }

  async close(): Promise<void> {
    this.#client.close();
  }

  /** Throws unless the answer is the range that was asked for, of the content that was opened. */
  #check({ status, headers }: Answer, first: number): void {
    if (status !== 206 && status !== 200) throw statusFailure(this.#label, status);
    if (!isSame(this.#validator, headers)) throw changed(this.#label);
    const range = /^bytes (\d+)-\d+\/(\d+|\*)$/i.exec(headers.get('content-range') ?? '');
    if (status === 200 || range === null || Number(range[1]) !== first) {
      throw new WireBoundError(
        'SOURCE_UNREADABLE',
        `${this.#label} does not answer with the range that was asked for`,
      );
    }
    if (range[2] !== '*' && Number(range[2]) !== this.size) throw changed(this.#label);
  }

  #identify(): Promise<SourceIdentity> {
    const now = performance.now();
    if (this.#look === undefined || now - this.#look.at > LOOK_MS) {
      this.#look = { at: now, identity: this.#lookAgain() };
    }
    return this.#look.identity;
  }

  /** What the server tells now. One that does not answer has changed nothing that is known. */
  async #lookAgain(): Promise<SourceIdentity> {
    let { etag, lastModified } = this.#validator;
    const answer = await this.#client.ask({ range: 'bytes=0-0' }).catch(() => undefined);
    if (answer?.status === 206) ({ etag, lastModified } = validatorOf(answer.headers));
    answer?.release();
    const changedAtMs = Date.parse(lastModified ?? '');
    return {
      key: `${this.#label} ${etag ?? ''} ${lastModified ?? ''} ${this.size}`,
      size: this.size,
      // An unknown time counts as long ago: an ETag is enough to know the content by.
      changedAtMs: Number.isFinite(changedAtMs) ? Math.min(changedAtMs, Date.now()) : 0,
    };
  }
}
