import { GetObjectCommand, HeadObjectCommand, S3Client, type S3ClientConfig } from '@aws-sdk/client-s3';
import type { ObjectAddress } from './object-address.js';

/** What is known of an object without its content. */
export interface ObjectHead {
  readonly size: number;
  readonly etag: string;
  readonly changedAtMs: number;
}

/** One answer with content; `pieces` ends early where the connection does. */
export interface ObjectPart {
  readonly etag: string;
  /** Undefined where the service sent the whole object instead of the range. */
  readonly range: string | undefined;
  readonly pieces: AsyncIterable<Uint8Array>;
}

/** How long a connection may take, and stay without a byte; milliseconds. */
const CONNECT_MS = 10_000;
const IDLE_MS = 15_000;

/** The two questions that a source asks of S3-compatible storage. Rejects with what the SDK throws. */
export class ObjectStore {
  readonly #client: S3Client;
  readonly #address: ObjectAddress;
  readonly #closing = new AbortController();

  /** Region, endpoint and credentials come from where the AWS SDK finds them, unless `config` says otherwise. */
  constructor(address: ObjectAddress, config: S3ClientConfig = {}) {
    const endpoint = process.env.AWS_ENDPOINT_URL_S3 ?? process.env.AWS_ENDPOINT_URL;
    this.#client = new S3Client({
      region: process.env.AWS_REGION ?? process.env.AWS_DEFAULT_REGION ?? 'us-east-1',
      // Stores other than Amazon's seldom have a host name for each bucket.
      forcePathStyle: endpoint !== undefined,
      requestHandler: { connectionTimeout: CONNECT_MS, socketTimeout: IDLE_MS },
      ...config,
    });
    this.#address = address;
  }

  async head(signal?: AbortSignal): Promise<ObjectHead> {
    const { bucket: Bucket, key: Key } = this.#address;
    const { ContentLength, ETag, LastModified } = await this.#client.send(
      new HeadObjectCommand({ Bucket, Key }),
      { abortSignal: this.#signal(signal) },
    );
    return { size: ContentLength ?? 0, etag: ETag ?? '', changedAtMs: LastModified?.getTime() ?? 0 };
  }

  /** Bytes `first` to `last`, of the object that has this ETag. */
  async part(first: number, last: number, etag: string): Promise<ObjectPart> {
    const { bucket: Bucket, key: Key } = this.#address;
    const Range = `bytes=${first}-${last}`;
    const answer = await this.#client.send(
      new GetObjectCommand({ Bucket, Key, Range, ...(etag === '' ? {} : { IfMatch: etag }) }),
      { abortSignal: this.#signal(undefined) },
    );
    return {
      etag: answer.ETag ?? '',
      range: answer.ContentRange,
      pieces: (answer.Body ?? []) as AsyncIterable<Uint8Array>,
    };
  }

  /** Ends every request. */
  close(): void {
    this.#closing.abort();
    this.#client.destroy();
  }

  #signal(signal: AbortSignal | undefined): AbortSignal {
    return signal === undefined ? this.#closing.signal : AbortSignal.any([this.#closing.signal, signal]);
  }
}
