import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Codec } from '#dist/core/codec/codec.js';
import { CodecRegistry } from '#dist/core/codec/codec-registry.js';
import { ERROR_CODES } from '#dist/core/errors.js';
import type { Plugin } from '#dist/core/plugin/plugin.js';
import type { ServeEvent } from '#dist/core/server/serve-event.js';
import { CUT, cutPlugin, halfEmpty } from '../support/cut-codec.js';
import { getFrom, type LocalServer, openLocalServer } from '../support/local-server.js';
import { makeTempFolder } from '../support/temp-folder.js';
import { openTestServer } from '../support/test-server.js';

const CHUNK = 65_536;
const CHUNKS = 40;
const FILE = halfEmpty(CHUNKS, CHUNK);

let temp: Awaited<ReturnType<typeof makeTempFolder>>;
let file: string;
beforeAll(async () => {
  temp = await makeTempFolder();
  file = join(temp.path, 'half.bin');
  await writeFile(file, FILE);
});
afterAll(() => temp.remove());

describe('a codec that fails on the server', () => {
  const BAD: readonly (readonly [string, Codec['encode'], string])[] = [
    ['throws', () => thrown(new Error('no way')), 'no way'],
    ['rejects', async () => thrown(new Error('not now')), 'not now'],
    ['returns text', () => 'short' as never, 'it did not return a Uint8Array'],
    ['returns nothing', async () => undefined as never, 'it did not return a Uint8Array'],
    ['returns far more', (chunk) => new Uint8Array(2 * chunk.length), 'it returned 131072 bytes'],
    ['returns its own input', (chunk) => chunk.subarray(0, 10), 'it returned a view of its input'],
  ];

  test.each(BAD)(
    'because it %s has its chunks sent raw, to everyone, with one warning',
    async (_, encode, reason) => {
      const server = await serve(cutPlugin({ encode }));
      const results = await Promise.all([get(server), get(server, cutPlugin()), get(server)]);
      expect(results.map(({ result }) => result)).toEqual(['PASS', 'PASS', 'PASS']);
      expect(warnings(server.events)).toEqual([
        expect.stringMatching(
          new RegExp(
            `^cut could not encode a chunk of 65536 bytes: ${reason} \\(chunk \\d+ of 40\\); it is sent raw$`,
          ),
        ),
      ]);
      server.drain();
      expect(await server.finished).toMatchObject({ verified: 3, chunksEncoded: 0, chunksRaw: 3 * CHUNKS });
    },
  );

  test('for some chunks only has only those sent raw', async () => {
    let calls = 0;
    const encode: Codec['encode'] = (chunk) => {
      if (calls++ % 4 === 3) throw new Error('every fourth');
      return CUT.encode(chunk);
    };
    const server = await serve(cutPlugin({ encode }));
    expect(await get(server, cutPlugin())).toMatchObject({ result: 'PASS' });
    server.drain();
    expect(await server.finished).toMatchObject({ chunksEncoded: 30, chunksRaw: 10 });
    expect(warnings(server.events)).toHaveLength(1);
  });

  test('because its result is a little longer has done nothing wrong: raw it is, without a word', async () => {
    const server = await serve(cutPlugin({ encode: (chunk) => new Uint8Array(chunk.length + 1) }));
    expect(await get(server, cutPlugin())).toMatchObject({ result: 'PASS' });
    expect(warnings(server.events)).toEqual([]);
  });

  test('because it never answers is waited for once, and then done without', async () => {
    const codecs = new CodecRegistry();
    let calls = 0;
    const encode = () => {
      calls++;
      return new Promise<Uint8Array>(() => undefined);
    };
    codecs.register({ ...CUT, encode }, { origin: 'test' });
    const limits = { encodeTimeoutMs: 300 };
    const server = await openTestServer(file, { chunkSize: CHUNK, codec: 'cut', codecs, limits });
    const { port } = server;
    const plugins = [cutPlugin()];
    const results = await Promise.all(
      [plugins, [], plugins].map((plugins) => getFrom(port, '/dev/null', { plugins })),
    );
    expect(results.map(({ result }) => result)).toEqual(['PASS', 'PASS', 'PASS']);
    expect(await getFrom(port, '/dev/null', { plugins })).toMatchObject({ result: 'PASS' });
    expect(calls).toBeLessThanOrEqual(8);
    expect(warnings(server.events)).toEqual([
      expect.stringMatching(
        /^cut could not encode .*: it did not answer within 0.3 s \(chunk \d+ of 40\); it is sent raw$/,
      ),
    ]);
    server.drain();
    expect(await server.finished).toMatchObject({ verified: 4, failed: 0, chunksEncoded: 0 });
  });
});

describe('a codec that fails on a client', () => {
  const BAD: readonly (readonly [string, string, string])[] = [
    ['throws', "throw new Error('no way')", 'no way'],
    ['rejects', "return Promise.reject(new Error('not now'))", 'not now'],
    ['returns too few bytes', 'return new Uint8Array(rawLength - 1)', 'it returned 65535 bytes'],
    [
      'returns too many bytes',
      'return Promise.resolve(new Uint8Array(rawLength + 1))',
      'it returned 65537 bytes',
    ],
    ['returns text', "return 'text'", 'it did not return a Uint8Array'],
    ['returns nothing', '', 'it did not return a Uint8Array'],
  ];

  test.each(BAD)(
    'because it %s ends that transfer with its name and the chunk; others go on',
    async (what, body, reason) => {
      const server = await serve(cutPlugin());
      const decode = new Function('payload', 'rawLength', body) as Codec['decode'];
      // As an object it decodes on the main thread, as a module in the digest thread.
      const module = join(temp.path, `${what.replaceAll(' ', '-')}.mjs`);
      const methods = `encode: (chunk) => chunk, decode(payload, rawLength) { ${body} }`;
      await writeFile(
        module,
        `export default { name: 'bad', apiVersion: 1, codecs: [{ name: 'cut', ${methods} }], sources: [] }`,
      );
      await import(pathToFileURL(module).href);
      const [good, asObject, asModule] = await Promise.all([
        get(server, cutPlugin()),
        get(server, cutPlugin({ decode })),
        getFrom(server.port, '/dev/null', { plugins: [module] }),
      ]);
      expect(good).toMatchObject({ result: 'PASS' });
      for (const result of [asObject, asModule]) {
        expect(result).toMatchObject({ result: 'FAIL', code: 'CODEC_FAILED' });
        expect(result.message).toBe(
          `chunk 0 of 40: cut could not decode 32768 bytes into a chunk of 65536: ${reason}`,
        );
      }
      expect(ERROR_CODES.CODEC_FAILED.exitCode).toBe(7);
      expect(await get(server, cutPlugin())).toMatchObject({ result: 'PASS' });
    },
  );

  test('because it decodes to other bytes of the right length is a digest mismatch, and nothing of it is kept', async () => {
    const server = await serve(cutPlugin());
    const output = join(temp.path, 'forged');
    const plugins = [cutPlugin({ decode: (_, rawLength) => new Uint8Array(rawLength) })];
    const result = await getFrom(server.port, output, { plugins });
    expect(result).toMatchObject({ result: 'FAIL', code: 'DIGEST_MISMATCH' });
    expect(result.message).toMatch(/chunk 0 of 40/);
    expect(result.partial).toBeUndefined();
  });
});

function serve(codec: Plugin): Promise<LocalServer> {
  return openLocalServer(file, { codec: 'cut', chunkSize: CHUNK, plugins: [codec] });
}

function get({ port }: LocalServer, ...plugins: readonly Plugin[]) {
  return getFrom(port, '/dev/null', { plugins });
}

function warnings(events: readonly ServeEvent[]): readonly string[] {
  return events.flatMap((event) => (event.event === 'warning' ? [event.message] : []));
}

function thrown(error: unknown): never {
  throw error;
}
