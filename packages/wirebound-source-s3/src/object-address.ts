import { WireBoundError } from 'wirebound';

/** An object in a bucket. */
export interface ObjectAddress {
  readonly bucket: string;
  readonly key: string;
}

/**
 * Reads `s3://BUCKET/KEY`. The key is taken as it stands, as the AWS tools do: `%20` is three characters. Throws
 * USAGE for anything else.
 */
export function parseObjectAddress(reference: string): ObjectAddress {
  const [, bucket, key] = /^s3:\/\/([^/]+)\/(.+)$/is.exec(reference) ?? [];
  if (bucket !== undefined && key !== undefined && !key.endsWith('/')) return { bucket, key };
  throw new WireBoundError('USAGE', `${JSON.stringify(reference)} is not an object: write s3://BUCKET/KEY`);
}
