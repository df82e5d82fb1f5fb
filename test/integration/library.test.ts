import { createHash } from 'node:crypto';
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { gunzipSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { parseSize } from '#dist/core/units.js';
import type { Plugin } from '#dist/index.js';
import * as wirebound from '#dist/index.js';
import { CLIENT_DEFAULTS } from '#dist/library/client-options.js';
import { SERVE_DEFAULTS } from '#dist/library/serve-file.js';

import { content } from '../support/content.js';
import { namedCodeBlocks, readMarkdown } from '../support/markdown.js';
import { runCli } from '../support/run-cli.js';
import { makeTempFolder } from '../support/temp-folder.js';

const { definePlugin, getFile, serveFile, verifyFile } = wirebound;
const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const FILE = Buffer.concat([content('log', 700_000), content('random', 700_001)]);
const SHA256 = createHash('sha256').update(FILE).digest('hex');

let temp: Awaited<ReturnType<typeof makeTempFolder>>;
let file: string;

beforeAll(async () => {
  // Jest's module loader fails when several modules that are not in its cache are imported at the same time.
  for (const name of ['sources/mmap', 'sources/file', 'sources/memory', 'codecs/none', 'codecs/lz4']) {
    await import(`#dist/plugins/${name}.js`);
  }
  temp = await makeTempFolder();
  process.env.XDG_CACHE_HOME = temp.path;
  file = join(temp.path, 'build.iso');
  await writeFile(file, FILE);
  await mkdir(join(temp.path, 'node_modules'));
  await symlink(ROOT, join(temp.path, 'node_modules', 'wirebound'), 'dir');
});
afterAll(() => temp.remove());

describe('the public API', () => {
  test('is these names and no others', () => {
    expect(Object.keys(wirebound).sort()).toEqual([
      'PLUGIN_API_VERSION',
      'WireBoundError',
      'definePlugin',
      'getFile',
      'serveFile',
      'verifyFile',
    ]);
  });

  test('has the defaults of the command line', async () => {
    const manifest = JSON.parse(await readFile(join(ROOT, 'oclif.manifest.json'), 'utf8'));
    const { serve, get, verify } = manifest.commands;
    const { codec, cache, chunk, port, source } = serve.flags;
    expect(SERVE_DEFAULTS).toEqual({
      codec: codec.default,
      cacheBytes: parseSize(cache.default, '--cache'),
      chunkSize: Number(chunk.default) * 1024,
      port: Number(port.default),
      source: source.default,
    });
    for (const { flags } of [get, verify]) {
      expect(CLIENT_DEFAULTS).toEqual({
        port: Number(port.default),
        waitMs: Number(flags.wait.default) * 1000,
        retryForMs: Number(flags['retry-for'].default) * 1000,
      });
    }
  });
});

describe('docs/library.md', () => {
  const scripts = namedCodeBlocks(readMarkdown('docs/library.md'));

  test.each([...scripts])('%s does what it says, and its process ends by itself', async (name, code) => {
    const folder = join(temp.path, name.replace('.', '-'));
    await mkdir(folder);
    await writeFile(join(folder, 'build.iso'), FILE);
    await writeFile(join(folder, name), code);
    const { exitCode, stdout, stderr } = await runCli([], { script: join(folder, name), cwd: folder });
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    expect(stdout.toString()).toContain(`PASS ${SHA256}`);
    if (code.includes('copy.iso')) expect((await readFile(join(folder, 'copy.iso'))).equals(FILE)).toBe(true);
  });

  test('has one script for each module system', () => {
    expect([...scripts.keys()]).toEqual(['serve-and-get.mjs', 'verify.cjs', 'own-codec.mjs']);
  });
});

describe('serveFile', () => {
  test.each([
    [{ file: '' }, 'file'],
    [{ port: -1 }, 'port -1'],
    [{ port: 65536 }, 'port 65536'],
    [{ port: Number.NaN }, 'port NaN'],
    [{ chunkSize: 256 }, 'chunkSize 256'],
    [{ chunkSize: 65537 }, 'chunkSize 65537'],
    [{ maxClients: 0 }, 'maxClients 0'],
    [{ until: 1.5 }, 'until 1.5'],
    [{ bytesPerSecond: -1 }, 'bytesPerSecond -1'],
    [{ name: 'a/b' }, 'name "a/b"'],
  ])('refuses %j by name', async (wrong, named) => {
    const refused = serveFile({ file, port: 0, ...wrong });
    await expect(refused).rejects.toMatchObject({
      code: 'USAGE',
      message: expect.stringContaining(named),
    });
  });

  test('takes an option that is undefined for one that is not there', async () => {
    const server = await serveFile({ file, port: 0, host: '127.0.0.1', codec: undefined, name: undefined });
    server.stop();
    expect(await server.finished).toMatchObject({ name: 'build.iso', codec: 'auto', chunkSize: 262_144 });
  });

  test('rejects with the code that the command line shows', async () => {
    const gone = join(temp.path, 'gone');
    await expect(serveFile({ file: gone, port: 0 })).rejects.toMatchObject({ code: 'SOURCE_NOT_FOUND' });
    await expect(serveFile({ file, port: 0, codec: 'nope' })).rejects.toMatchObject({
      code: 'CODEC_UNKNOWN',
    });
  });

  test('opens nothing when its signal was aborted before', async () => {
    const events: string[] = [];
    const onEvent = ({ event }: { readonly event: string }) => events.push(event);
    const signal = AbortSignal.abort(new Error('not now'));
    await expect(serveFile({ file, port: 0, signal, onEvent })).rejects.toMatchObject({
      code: 'INTERRUPTED',
      cause: { message: 'not now' },
    });
    expect(events).not.toContain('listening');
  });

  test('stops when its signal is aborted, and frees the port', async () => {
    const stopping = new AbortController();
    const server = await serveFile({ file, port: 0, host: '127.0.0.1', signal: stopping.signal });
    expect(server.addresses).toEqual([expect.objectContaining({ address: '127.0.0.1', family: 4 })]);
    stopping.abort();
    expect(await server.finished).toMatchObject({ verified: 0, failed: 0 });
    const again = createServer();
    await new Promise<void>((resolve, reject) => {
      again.once('error', reject).listen(server.port, '127.0.0.1', resolve);
    });
    again.close();
  });
});

describe('getFile', () => {
  test.each([
    [{ host: '' }, 'host'],
    [{ port: 0 }, 'port 0'],
    [{ waitMs: -1 }, 'waitMs -1'],
    [{ retryForMs: Number.POSITIVE_INFINITY }, 'retryForMs Infinity'],
    [{ expect: 'abc' }, 'expect "abc"'],
  ])('refuses %j by name', async (wrong, named) => {
    const refused = getFile({ host: '127.0.0.1', ...wrong });
    await expect(refused).rejects.toMatchObject({
      code: 'USAGE',
      message: expect.stringContaining(named),
    });
  });

  test('resolves to FAIL when its signal is aborted in the middle, and keeps what came', async () => {
    const server = await serveFile({ file, port: 0, host: '127.0.0.1', bytesPerSecond: 400_000 });
    const stopping = new AbortController();
    const output = join(temp.path, 'interrupted');
    const result = await getFile({
      host: '127.0.0.1',
      port: server.port,
      output,
      signal: stopping.signal,
      onEvent: (event) => {
        if (event.event === 'progress' && event.phase === 'receiving' && event.bytes > 0) stopping.abort();
      },
    });
    server.stop();
    expect(result).toMatchObject({ result: 'FAIL', code: 'INTERRUPTED', partial: `${output}.wirebound` });
    await server.finished;
  });
});

describe('verifyFile', () => {
  test.each([
    [{ file: '' }, 'file'],
    [{ host: '' }, 'host'],
    [{ port: 70_000 }, 'port 70000'],
  ])('refuses %j by name', async (wrong, named) => {
    await expect(verifyFile({ file, host: '127.0.0.1', ...wrong })).rejects.toMatchObject({
      code: 'USAGE',
      message: expect.stringContaining(named),
    });
  });

  test('tells what is different, and repairs it', async () => {
    const server = await serveFile({ file, port: 0, host: '127.0.0.1' });
    const copy = join(temp.path, 'copy');
    const bytes = Buffer.from(FILE);
    bytes[300_000] = 1;
    await writeFile(copy, bytes);
    const options = { file: copy, host: '127.0.0.1', port: server.port };
    const bad: number[] = [];
    const found = await verifyFile({
      ...options,
      onEvent: (event) => {
        if (event.event === 'bad') bad.push(event.chunk);
      },
    });
    expect(found).toMatchObject({ result: 'DIFFERENT', badChunks: [1], path: copy });
    expect(bad).toEqual([1]);
    expect(await verifyFile({ ...options, repair: true })).toMatchObject({ result: 'REPAIRED' });
    expect((await readFile(copy)).equals(FILE)).toBe(true);
    expect(await verifyFile(options)).toMatchObject({ result: 'IDENTICAL', sha256: SHA256 });
    server.stop();
    await server.finished;
  });

  test('rejects when its signal is aborted', async () => {
    const signal = AbortSignal.abort();
    await expect(verifyFile({ file, host: '127.0.0.1', signal })).rejects.toMatchObject({
      code: 'INTERRUPTED',
    });
  });
});

describe('a plugin handed over as an object', () => {
  const CHUNK = 65_536;
  const CHUNKS = 24;
  /** Every other chunk shrinks. */
  const mixed = Buffer.concat(
    Array.from({ length: CHUNKS }, (_, at) => content(at % 2 === 0 ? 'log' : 'random', CHUNK, at)),
  );
  const path = () => join(temp.path, 'mixed.bin');

  beforeAll(() => writeFile(path(), mixed));

  /** gzip, with `decode` in front of the decoding. */
  function gzipPlugin(decode: (call: number) => Promise<void> | void = () => {}) {
    let calls = 0;
    return definePlugin({
      name: 'gzip',
      codecs: [
        {
          name: 'gzip',
          encode: (chunk) => gzipSync(chunk, { level: 1 }),
          async decode(payload, rawLength) {
            await decode(calls++);
            return gunzipSync(payload, { maxOutputLength: rawLength });
          },
        },
      ],
    });
  }

  async function transfer(output: string, plugins: readonly Plugin[]) {
    const server = await serveFile({
      file: path(),
      port: 0,
      host: '127.0.0.1',
      chunkSize: CHUNK,
      codec: 'gzip',
      plugins: [gzipPlugin()],
    });
    const result = await getFile({
      host: '127.0.0.1',
      port: server.port,
      output: join(temp.path, output),
      plugins,
    });
    if (result.result === 'PASS') server.drain();
    else server.stop(); // a client that has failed may come back: no need to wait for that
    return { result, summary: await server.finished };
  }

  test('encodes and decodes, in the order of the file, however long each chunk takes', async () => {
    const turns = async (call: number) => {
      for (let left = 12 - call; left > 0; left--) await nextTurn();
    };
    const { result, summary } = await transfer('in-order', [gzipPlugin(turns)]);
    expect(result).toMatchObject({ result: 'PASS' });
    expect(summary).toMatchObject({ chunksEncoded: CHUNKS / 2, chunksRaw: CHUNKS / 2, verified: 1 });
    expect((await readFile(join(temp.path, 'in-order'))).equals(mixed)).toBe(true);
  });

  test('is not needed by a client that does not have it', async () => {
    const { result, summary } = await transfer('raw', []);
    expect(result).toMatchObject({ result: 'PASS' });
    expect(summary).toMatchObject({ chunksEncoded: 0, chunksRaw: CHUNKS });
  });

  test('that cannot decode ends the run with the chunk it failed at, and what came before is kept', async () => {
    const fail = (call: number) => {
      if (call >= 3) throw new Error('no more');
    };
    const { result } = await transfer('failed', [gzipPlugin(fail)]);
    expect(result).toMatchObject({
      result: 'FAIL',
      code: 'CODEC_FAILED',
      message: expect.stringMatching(/^chunk 6 of 24: gzip could not decode .* bytes into .*: no more$/),
    });
    const partial = await readFile(String(result.partial));
    expect(partial.equals(mixed.subarray(0, 6 * CHUNK))).toBe(true);
  });

  test('must have the shape of one', async () => {
    const broken = { name: 'broken', apiVersion: 1, codecs: [{ name: 'x' }], sources: [] };
    await expect(serveFile({ file, port: 0, plugins: [broken as never] })).rejects.toMatchObject({
      code: 'PLUGIN_FAILED',
      message: 'plugin broken has no function codecs[0].encode',
    });
    await expect(getFile({ host: '127.0.0.1', plugins: [undefined as never] })).rejects.toMatchObject({
      code: 'PLUGIN_FAILED',
    });
  });
});
