import { renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { ChunkSource, StreamSource } from 'wirebound';
import { type MakeSource, sourceContract } from 'wirebound/testing';
import { content } from '../../../test/support/content.js';
import { type Nginx, startNginx } from '../../../test/support/nginx.js';
import { makeTempFolder } from '../../../test/support/temp-folder.js';
import { createHttpSource } from '../dist/http-source.js';
import plugin from '../dist/index.js';
import { collect, rangeOf, seekable, startServer } from './support.js';

const LOCATIONS = `
  location /whole/ { alias www/; max_ranges 0; }
  location /moved/ { return 302 /$uri; }
  location /old.bin { return 301 /file.bin; }
  location /away.bin { return 307 /gone/away.bin; }
  location /forbidden/ { return 403; }
  location /bare/ { alias www/; etag off; add_header Last-Modified ""; }
  location /dated/ { alias www/; etag off; }
  location /slow/ { alias www/; limit_rate 400k; }
  location /squeezed/ { alias www/; gzip on; gzip_types *; gzip_min_length 0; }
  location /private/ { alias www/; auth_basic "x"; auth_basic_user_file users; }
`;
const options = { memoryLimit: 2 ** 20 };
const limits = { idleTimeoutMs: 300, attempts: 3, pauseMs: 1 };
const source = createHttpSource(limits);

let temp: Awaited<ReturnType<typeof makeTempFolder>>;
let nginx: Nginx;
let url: (path: string) => string;
beforeAll(async () => {
  temp = await makeTempFolder();
  writeFileSync(join(temp.path, 'users'), 'me:{PLAIN}geheim\n');
  nginx = await startNginx(temp.path, LOCATIONS.replaceAll('alias www/', `alias ${temp.path}/www/`));
  url = (path) => `http://127.0.0.1:${nginx.port}/${path}`;
});
afterAll(async () => {
  await nginx.stop();
  await temp.remove();
});

let files = 0;
let hours = 0;
/** Puts content where nginx serves it, each time an hour older (nginx tells files apart by second); returns the name. */
function publish(bytes: Uint8Array, name = `file-${files++}.bin`): string {
  writeFileSync(join(nginx.root, 'new'), bytes);
  hours++;
  utimesSync(join(nginx.root, 'new'), Date.now() / 1000, Date.now() / 1000 - hours * 3600);
  renameSync(join(nginx.root, 'new'), join(nginx.root, name));
  return name;
}

async function open(reference: string): Promise<ChunkSource> {
  return seekable(await source.open(reference, options));
}

async function readAll(opened: ChunkSource, piece = 100_000): Promise<Buffer> {
  const all = Buffer.alloc(opened.size);
  for (let at = 0; at < all.length; at += piece) await opened.read(at, all.subarray(at, at + piece));
  return all;
}

describe('a file on nginx keeps the source contract', () => {
  const make: MakeSource = async (bytes, signal) => {
    const name = publish(bytes);
    const opened = await source.open(url(name), { ...options, ...(signal === undefined ? {} : { signal }) });
    return { source: seekable(opened), breakContent: async () => rmSync(join(nginx.root, name)) };
  };
  for (const { title, run } of sourceContract(make)) test(title, run);
});

describe('a file on nginx', () => {
  const bytes = content('random', 700_001);

  test.each([
    ['', 'ranges, held to the ETag'],
    ['dated/', 'ranges, held to the Last-Modified'],
    ['bare/', 'ranges; the server tells no ETag, so a change may go unnoticed'],
    ['slow/', 'ranges, held to the ETag'],
    ['squeezed/', 'ranges, held to the ETag'],
  ])(
    'comes whole from /%s, and its source says how it is held to one content',
    async (place, description) => {
      const opened = await open(url(place + publish(bytes)));
      expect(opened).toMatchObject({ remote: true, size: bytes.length, description });
      expect((await readAll(opened)).equals(bytes)).toBe(true);
      await opened.close();
    },
  );

  test('goes by the last part of its URL, and by nothing secret', async () => {
    const opened = await open(`${url(encodeURIComponent(publish(bytes, 'ein bär.bin')))}?token=secret#part`);
    expect(opened.name).toBe('ein bär.bin');
    expect(JSON.stringify(await opened.identity?.())).not.toContain('secret');
    await opened.close();
    const hidden = url('missing.bin?token=secret').replace('//', '//me:secret@');
    await expect(source.open(hidden, options)).rejects.toThrow(/^(?!.*secret).*missing\.bin answers 404$/);
  });

  test('is found behind a redirect, and read where that led to', async () => {
    publish(bytes, 'file.bin');
    const opened = await open(url('old.bin'));
    expect((await readAll(opened)).equals(bytes)).toBe(true);
    await opened.close();
  });

  test('is read with the name and password of its URL', async () => {
    const name = publish(bytes);
    const opened = await open(url(`private/${name}`).replace('//', '//me:geheim@'));
    expect((await readAll(opened)).equals(bytes)).toBe(true);
    await opened.close();
    await expect(source.open(url(`private/${name}`), options)).rejects.toMatchObject({
      code: 'SOURCE_UNREADABLE',
      message: expect.stringContaining('answers 401'),
    });
  });

  test('is taken in whole where the server has no ranges', async () => {
    const opened = (await source.open(url(`whole/${publish(bytes)}`), options)) as StreamSource;
    expect(opened).toMatchObject({ size: bytes.length, description: 'the server has no ranges' });
    expect((await collect(opened.stream)).equals(bytes)).toBe(true);
    await opened.close?.();
  });

  test.each(['', 'whole/'])('may be empty at /%s', async (place) => {
    const opened = await source.open(url(place + publish(Buffer.alloc(0))), options);
    expect(opened.size).toBe(0);
    await opened.close?.();
  });

  test.each([
    ['missing.bin', 'SOURCE_NOT_FOUND', 404],
    ['away.bin', 'SOURCE_NOT_FOUND', 404],
    ['forbidden/x', 'SOURCE_UNREADABLE', 403],
  ])('that cannot be had is refused: %s', async (path, code, status) => {
    await expect(source.open(url(path), options)).rejects.toMatchObject({
      code,
      message: expect.stringContaining(`answers ${status}`),
    });
  });

  test('that was replaced is never mixed with what it was', async () => {
    for (const place of ['', 'dated/']) {
      const name = publish(bytes);
      const opened = await open(url(place + name));
      await opened.read(0, new Uint8Array(1000));
      publish(content('random', 700_001, 2), name);
      await expect(opened.read(1000, new Uint8Array(1000))).rejects.toMatchObject({ code: 'SOURCE_CHANGED' });
      await opened.close();
    }
  });
});

describe('a web server that', () => {
  const bytes = content('random', 300_000);

  /** Answers ranges of `bytes` as it should, except where `flaw` has dealt with the request. */
  async function withServer(
    flaw: (
      first: number,
      count: number,
      answer: {
        head(headers?: object): void;
        end(piece: Buffer): void;
        cut(piece: Buffer): void;
        status(code: number): void;
      },
    ) => boolean,
    use: (reference: string) => Promise<void>,
  ): Promise<void> {
    let requests = 0;
    const server = await startServer((request, response) => {
      const [first, last] = rangeOf(request.headers.range);
      const head = (headers: object = {}) =>
        response.writeHead(206, {
          'content-range': `bytes ${first}-${last}/${bytes.length}`,
          'content-length': last - first + 1,
          etag: '"one"',
          ...headers,
        });
      const done = flaw(first, requests++, {
        head: (headers) => void head(headers),
        end: (piece) => void response.end(piece),
        cut: (piece) => void response.write(piece, () => response.destroy()),
        status: (code) => void response.writeHead(code).end(),
      });
      if (!done) head().end(bytes.subarray(first, last + 1));
    });
    try {
      await use(server.url);
    } finally {
      await server.stop();
    }
  }

  test('breaks off is asked for the rest', () =>
    withServer(
      (first, count, answer) => {
        if (count === 0 || count > 4) return false;
        answer.head();
        answer.cut(bytes.subarray(first, first + 10_000));
        return true;
      },
      async (reference) => {
        const opened = await open(reference);
        expect((await readAll(opened, bytes.length)).equals(bytes)).toBe(true);
        await opened.close();
      },
    ));

  test('always breaks off before the first byte is given up', () =>
    withServer(
      (_, count, answer) => {
        if (count === 0) return false;
        answer.head();
        answer.cut(Buffer.alloc(0));
        return true;
      },
      async (reference) => {
        const opened = await open(reference);
        await expect(opened.read(0, new Uint8Array(1000))).rejects.toMatchObject({
          code: 'SOURCE_UNREADABLE',
          message: expect.stringMatching(/\(3 attempts\)$/),
        });
        await opened.close();
      },
    ));

  test('falls silent is asked again, and given up in the end', () =>
    withServer(
      (_, count, answer) => {
        if (count === 0) return false;
        answer.head();
        return true;
      },
      async (reference) => {
        const opened = await open(reference);
        await expect(opened.read(0, new Uint8Array(1000))).rejects.toThrow(
          'nothing came for 0.3 s (3 attempts)',
        );
        await opened.close();
      },
    ));

  test('is out of order for a moment is asked again', () =>
    withServer(
      (_, count, answer) => {
        if (count % 2 === 1) return false;
        answer.status(503);
        return true;
      },
      async (reference) => {
        const opened = await open(reference);
        expect((await readAll(opened)).equals(bytes)).toBe(true);
        await opened.close();
      },
    ));

  test.each([
    ['sends another ETag', { etag: '"two"' }, 'SOURCE_CHANGED'],
    ['tells another size', { 'content-range': 'bytes 0-999/5' }, 'SOURCE_CHANGED'],
    ['answers with another range', { 'content-range': 'bytes 7-1006/300000' }, 'SOURCE_UNREADABLE'],
    ['tells no range', { 'content-range': 'nonsense' }, 'SOURCE_UNREADABLE'],
  ])('%s is not believed', (_, headers, code) =>
    withServer(
      (first, count, answer) => {
        if (count === 0) return false;
        answer.head(headers);
        answer.end(bytes.subarray(first, first + 1000));
        return true;
      },
      async (reference) => {
        const opened = await open(reference);
        await expect(opened.read(0, new Uint8Array(1000))).rejects.toMatchObject({ code });
        await opened.close();
      },
    ),
  );

  test('does not answer any more has changed nothing that is known', async () => {
    const server = await startServer((_, response) => {
      response.writeHead(206, { 'content-range': 'bytes 0-0/5', etag: '"one"' }).end('x');
    });
    const opened = await open(server.url);
    const known = await opened.identity?.();
    await server.stop();
    expect(await opened.identity?.()).toEqual(known);
    await opened.close();
  });

  test('is not there cannot be read', async () => {
    const server = await startServer(() => {});
    await server.stop();
    await expect(source.open(server.url, options)).rejects.toMatchObject({
      code: 'SOURCE_UNREADABLE',
      message: expect.stringContaining('ECONNREFUSED'),
    });
  });
});

test('the plugin opens http and https, and nothing else', () => {
  const accepts = plugin.sources[0]?.accepts ?? (() => undefined);
  expect(['http://x/y', 'HTTPS://x', 'ftp://x', 'x.bin', '-'].map((reference) => accepts(reference))).toEqual(
    [true, true, false, false, false],
  );
});
