import { createRequire } from 'node:module';
import { PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { type RunningModule, runModule } from '../../../test/support/run-module.js';

/** An S3-compatible server in a process of its own, with the bucket `films`. */
export interface ObjectServer {
  /** What a user of it has in the environment. */
  readonly env: Readonly<Record<string, string>>;
  readonly client: S3Client;
  put(key: string, content: Uint8Array): Promise<void>;
  stop(): Promise<void>;
}

const SERVER = `
  const { default: S3rver } = await import(process.argv[2]);
  const server = new S3rver({
    address: '127.0.0.1', port: 0, silent: true, directory: process.argv[1], configureBuckets: [{ name: 'films' }],
  });
  console.log('port ' + (await server.run()).port + '.');
`;

/** Starts one whose objects lie in `folder`. */
export async function startObjectServer(folder: string): Promise<ObjectServer> {
  const process: RunningModule = runModule(SERVER, [
    folder,
    createRequire(import.meta.url).resolve('@20minutes/s3rver'),
  ]);
  const text = await process.waitFor('.\n');
  const endpoint = `http://127.0.0.1:${/port (\d+)/.exec(text)?.[1]}`;
  const env = {
    AWS_ENDPOINT_URL: endpoint,
    AWS_REGION: 'eu-central-1',
    AWS_ACCESS_KEY_ID: 'S3RVER',
    AWS_SECRET_ACCESS_KEY: 'S3RVER',
  };
  const client = new S3Client({
    endpoint,
    region: env.AWS_REGION,
    forcePathStyle: true,
    credentials: { accessKeyId: 'S3RVER', secretAccessKey: 'S3RVER' },
  });
  return {
    env,
    client,
    put: async (Key, Body) => void (await client.send(new PutObjectCommand({ Bucket: 'films', Key, Body }))),
    async stop() {
      client.destroy();
      await process.end();
    },
  };
}
