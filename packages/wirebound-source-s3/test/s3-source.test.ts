import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { DeleteObjectCommand } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { ChunkSource } from 'wirebound';
import { type MakeSource, sourceContract } from 'wirebound/testing';
import { content } from '../../../test/support/content.js';
import { runCli, startServe } from '../../../test/support/run-cli.js';
import { makeTempFolder } from '../../../test/support/temp-folder.js';
import { parseObjectAddress } from '../dist/object-address.js';
import { createS3Source } from '../dist/s3-source.js';
import { type ObjectServer, startObjectServer } from './support.js';

const PLUGIN = fileURLToPath(new URL('..', import.meta.url));
const options = { memoryLimit: 2 ** 20 };

let temp: Awaited<ReturnType<typeof makeTempFolder>>;
let server: ObjectServer;
let source: ReturnType<typeof createS3Source>;
beforeAll(async () => {
  temp = await makeTempFolder();
  server = await startObjectServer(join(temp.path, 'objects'));
  source = createS3Source(configuration('S3RVER'));
});
afterAll(async () => {
  await server.stop();
  await temp.remove();
});

function configuration(secretAccessKey: string, endpoint = server.env.AWS_ENDPOINT_URL as string) {
  return {
    endpoint,
    region: 'eu-central-1',
    forcePathStyle: true,
    maxAttempts: 2,
    credentials: { accessKeyId: 'S3RVER', secretAccessKey },
  };
}

let objects = 0;
async function put(bytes: Uint8Array, key = `object-${objects++}`): Promise<string> {
  await server.put(key, bytes);
  return `s3://films/${key}`;
}

const open = async (reference: string) => (await source.open(reference, options)) as ChunkSource;

describe('an object keeps the source contract', () => {
  const make: MakeSource = async (bytes, signal) => {
    const reference = await put(bytes);
    const opened = await source.open(reference, { ...options, ...(signal === undefined ? {} : { signal }) });
    return {
      source: opened as ChunkSource,
      breakContent: async () => {
        const Key = reference.slice('s3://films/'.length);
        await server.client.send(new DeleteObjectCommand({ Bucket: 'films', Key }));
      },
    };
  };
  for (const { title, run } of sourceContract(make)) test(title, run);
});

describe('an object', () => {
  test.each(['plain.bin', 'a/deep/key.bin', 'ein bär & 100 %.bin', 'what?#.bin'])(
    'may have the key %s',
    async (key) => {
      const bytes = content('random', 100_000);
      const opened = await open(await put(bytes, key));
      expect(opened).toMatchObject({ name: key.split('/').at(-1), size: 100_000, remote: true });
      const into = Buffer.alloc(100_000);
      expect(await opened.read(0, into)).toBe(100_000);
      expect(into.equals(bytes)).toBe(true);
      await opened.close();
    },
  );

  test('that was replaced is never mixed with what it was', async () => {
    const reference = await put(content('random', 100_000, 1), 'replaced');
    const opened = await open(reference);
    const before = await opened.identity?.();
    await put(content('random', 100_000, 2), 'replaced');
    await expect(opened.read(0, new Uint8Array(10))).rejects.toMatchObject({ code: 'SOURCE_CHANGED' });
    await opened.close();
    const again = await open(reference);
    expect(await again.identity?.()).not.toEqual(before);
    await again.close();
  });

  test.each([
    ['s3://films/nothing', 'SOURCE_NOT_FOUND', /does not exist \(404\)$/],
    ['s3://no-such-bucket/x', 'SOURCE_NOT_FOUND', /does not exist \(404\)$/],
    ['s3://films', 'USAGE', /write s3:\/\/BUCKET\/KEY$/],
    ['s3://films/folder/', 'USAGE', /write s3:\/\/BUCKET\/KEY$/],
  ])('that is not there is refused: %s', async (reference, code, message) => {
    await expect(open(reference)).rejects.toMatchObject({ code, message: expect.stringMatching(message) });
  });

  test('cannot be read with a wrong key, or from a store that is not there', async () => {
    const reference = await put(content('random', 10));
    await expect(createS3Source(configuration('wrong')).open(reference, options)).rejects.toMatchObject({
      code: 'SOURCE_UNREADABLE',
      message: expect.stringContaining('credentials (403)'),
    });
    const nowhere = createS3Source(configuration('x', 'http://127.0.0.1:1'));
    await expect(nowhere.open(reference, options)).rejects.toMatchObject({
      code: 'SOURCE_UNREADABLE',
      message: expect.stringContaining('ECONNREFUSED'),
    });
  });

  test('key is taken as it stands', () => {
    expect(parseObjectAddress('S3://b/a%20b//c')).toEqual({ bucket: 'b', key: 'a%20b//c' });
  });
});

describe('a store that', () => {
  /** A store with one object of 1000 bytes; `answer` deals with its GET requests. */
  async function withStore(
    answer: (
      request: number,
      respond: (status: number, headers: object, body: Buffer, cut?: boolean) => void,
    ) => void,
    use: (opened: ChunkSource) => Promise<void>,
  ): Promise<void> {
    let requests = 0;
    const store = createServer((request, response) => {
      if (request.method === 'HEAD') {
        response
          .writeHead(200, {
            etag: '"one"',
            'content-length': 1000,
            'last-modified': new Date(0).toUTCString(),
          })
          .end();
        return;
      }
      answer(requests++, (status, headers, body, cut) => {
        response.writeHead(status, { etag: '"one"', ...headers });
        if (cut === true) response.write(body, () => response.destroy());
        else response.end(body);
      });
    }).listen(0, '127.0.0.1');
    await once(store, 'listening');
    const endpoint = `http://127.0.0.1:${(store.address() as AddressInfo).port}`;
    const opened = await createS3Source(configuration('x', endpoint)).open('s3://films/x', options);
    try {
      await use(opened as ChunkSource);
    } finally {
      await opened.close?.();
      store.closeAllConnections();
      store.close();
    }
  }
  const bytes = content('random', 1000);
  const range = (first: number, last = 999) => ({
    'content-range': `bytes ${first}-${last}/1000`,
    'content-length': last - first + 1,
  });

  test('looks at preconditions is believed', () =>
    withStore(
      (_, respond) => respond(412, {}, Buffer.from('<Error><Code>PreconditionFailed</Code></Error>')),
      (opened) =>
        expect(opened.read(0, new Uint8Array(10))).rejects.toMatchObject({ code: 'SOURCE_CHANGED' }),
    ));

  test('breaks off is asked for the rest', () =>
    withStore(
      (request, respond) => {
        const first = request * 400;
        respond(206, range(first), bytes.subarray(first, first + 400), request < 2);
      },
      async (opened) => {
        const into = Buffer.alloc(1000);
        expect(await opened.read(0, into)).toBe(1000);
        expect(into.equals(bytes)).toBe(true);
      },
    ));

  test('knows no ranges is refused', () =>
    withStore(
      (_, respond) => respond(200, { 'content-length': 1000 }, bytes),
      (opened) => expect(opened.read(0, new Uint8Array(10))).rejects.toThrow('does not come in ranges'),
    ));
});

test('several WireBound servers serve one object, each reading it once', async () => {
  const bytes = content('random', 5_000_000);
  const reference = await put(bytes, 'shared/model.bin');
  const servers = await Promise.all(
    [1, 2].map(() => startServe([reference, '--plugin', PLUGIN, '--until', '2'], { env: server.env })),
  );
  const gets = servers.flatMap(({ port }, at) =>
    [1, 2].map((number) =>
      runCli(['get', `127.0.0.1:${port}`, '-o', join(temp.path, `copy-${at}-${number}`)]),
    ),
  );
  for (const { exitCode } of await Promise.all(gets)) expect(exitCode).toBe(0);
  for (const [at, { cli }] of servers.entries()) {
    expect((await cli.finished).exitCode).toBe(0);
    expect(cli.events.at(-1)).toMatchObject({ name: 'model.bin', verified: 2, bytesFromSource: 5_000_000 });
    expect(readFileSync(join(temp.path, `copy-${at}-1`)).equals(bytes)).toBe(true);
  }
});
