import type { S3ClientConfig } from '@aws-sdk/client-s3';
import type { SourceDefinition } from 'wirebound';
import { serviceFailure } from './failures.js';
import { parseObjectAddress } from './object-address.js';
import { ObjectStore } from './object-store.js';
import { StoredObject } from './stored-object.js';

/**
 * The source `s3`: an object in S3-compatible storage, `s3://BUCKET/KEY`. Throws USAGE, SOURCE_NOT_FOUND and
 * SOURCE_UNREADABLE when it is opened, and SOURCE_CHANGED once it was replaced.
 */
export function createS3Source(config?: S3ClientConfig): SourceDefinition {
  return {
    name: 's3',
    scheme: 's3',
    async open(reference, { signal }) {
      const store = new ObjectStore(parseObjectAddress(reference), config);
      try {
        return new StoredObject(reference, await store.head(signal), store);
      } catch (error) {
        store.close();
        signal?.throwIfAborted();
        throw serviceFailure(reference, error);
      }
    },
  };
}
