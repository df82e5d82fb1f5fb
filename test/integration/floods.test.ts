import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { GET_LIMITS } from '#dist/core/client/get-limits.js';
import { Link } from '#dist/core/client/link.js';
import { WireBoundError } from '#dist/core/errors.js';
import { encodeFrame, encodePreamble } from '#dist/core/framing/encode-frame.js';
import { encodeManifest } from '#dist/core/framing/manifest.js';
import {
  encodeAsk,
  encodeError,
  encodeFrontier,
  encodeHello,
  parseError,
} from '#dist/core/framing/messages.js';
import { getFile, serveFile } from '#dist/index.js';
import { content } from '../support/content.js';
import { decodeFrames } from '../support/feed-decoder.js';
import { makeTempFolder } from '../support/temp-folder.js';

const HELLO = { agent: 'flood', codecs: [], run: '0123456789abcdef'.repeat(2) };
const anyLength = () => 1 << 20;

let temp: Awaited<ReturnType<typeof makeTempFolder>>;

beforeAll(async () => {
  // Jest's module loader fails when several modules that are not in its cache are imported at the same time.
  for (const name of ['sources/mmap', 'sources/file', 'sources/memory', 'codecs/none', 'codecs/lz4']) {
    await import(`#dist/plugins/${name}.js`);
  }
  temp = await makeTempFolder();
  process.env.XDG_CACHE_HOME = temp.path;
});
afterAll(() => temp.remove());

test('a client that asks and asks without reading is ended, and others are served', async () => {
  const file = join(temp.path, 'file.bin');
  await writeFile(file, content('random', 300 * 65_536));
  const digest = { known: () => {} };
  const known = new Promise<void>((resolve) => {
    digest.known = resolve;
  });
  const server = await serveFile({
    file,
    port: 0,
    host: '127.0.0.1',
    chunkSize: 65_536,
    onEvent: ({ event }) => {
      if (event === 'digest') digest.known();
    },
  });
  await known;
  const socket = connect(server.port, '127.0.0.1');
  socket.write(Buffer.concat([encodePreamble(), encodeFrame('hello', encodeHello(HELLO))]));
  const received: Buffer[] = [(await once(socket, 'data'))[0] as Buffer];
  socket.pause();
  const ask = encodeFrame('ask', encodeAsk(Array.from({ length: 256 }, (_, index) => index)));
  socket.write(Buffer.concat(Array(4000).fill(ask)));
  socket.on('data', (bytes: Buffer) => received.push(bytes));
  socket.on('error', () => undefined);
  socket.resume();
  await once(socket, 'end');
  const { frames } = decodeFrames(Buffer.concat(received), anyLength);
  const last = frames.at(-1);
  expect(frames.length).toBeLessThan(4000);
  expect(last?.type).toBe('error');
  expect(parseError(last?.content ?? Buffer.alloc(0))).toEqual({
    code: 'PROTOCOL',
    message: 'more than 16 questions at a time',
  });
  socket.destroy();
  const got = await getFile({ host: '127.0.0.1', port: server.port, output: join(temp.path, 'out.bin') });
  expect(got.result).toBe('PASS');
  server.stop();
  await server.finished;
});

test('a server that sends keepalives in floods does not get an answer to each', async () => {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const opening = Link.open({ host: '127.0.0.1', port }, HELLO, GET_LIMITS, new AbortController().signal);
  const [socket] = (await once(server, 'connection')) as [Socket];
  const received: Buffer[] = [];
  socket.on('data', (bytes: Buffer) => received.push(bytes));
  socket.on('error', () => undefined);
  const link = await opening;
  const manifest = encodeManifest({
    entries: [{ path: 'a', size: 1 }],
    chunkSize: 65_536,
    codecs: [],
    transfer: '',
  });
  socket.write(Buffer.concat([encodePreamble(), encodeFrame('manifest', manifest)]));
  await link.manifest([]);
  const keepalive = encodeFrame('keepalive', encodeFrontier(0));
  const end = encodeFrame('error', encodeError({ code: 'STOPPED', message: 'enough' }));
  socket.write(Buffer.concat([...Array(5000).fill(keepalive), end]));
  await expect(link.ask([0], 1)).rejects.toMatchObject({ code: 'STOPPED' });
  link.fail(new WireBoundError('CONNECTION_LOST', 'the test is over'));
  await once(socket, 'close');
  const { frames } = decodeFrames(Buffer.concat(received), anyLength);
  const answers = frames.filter(({ type }) => type === 'keepalive').length;
  expect(answers).toBeGreaterThan(0);
  expect(answers).toBeLessThan(2500);
  server.close();
});
