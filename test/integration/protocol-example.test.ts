import { once } from 'node:events';
import { readFile, stat, utimes, writeFile } from 'node:fs/promises';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type FrameHeader, PAYLOAD_LIMITS } from '#dist/core/framing/frame.js';
import { FrameDecoder } from '#dist/core/framing/frame-decoder.js';
import { parseManifest } from '#dist/core/framing/manifest.js';
import { parseHello, parseVerdict } from '#dist/core/framing/messages.js';
import { getFile, type ServeEvent, serveFile } from '#dist/index.js';
import { feedDecoder } from '../support/feed-decoder.js';
import { type HexTurn, hexBlocks } from '../support/hex-blocks.js';
import { readMarkdown } from '../support/markdown.js';
import { makeTempFolder } from '../support/temp-folder.js';

const [SESSION = []] = hexBlocks(readMarkdown('docs/protocol.md'));
const MTIME_MS = 1_767_225_600_000;

let temp: Awaited<ReturnType<typeof makeTempFolder>>;
let file: string;

beforeAll(async () => {
  // Jest's module loader fails when several modules that are not in its cache are imported at the same time.
  for (const name of ['sources/mmap', 'sources/file', 'sources/memory', 'codecs/none', 'codecs/lz4']) {
    await import(`#dist/plugins/${name}.js`);
  }
  temp = await makeTempFolder();
  process.env.XDG_CACHE_HOME = temp.path;
  file = join(temp.path, 'abc.txt');
});
afterAll(() => temp.remove());

test('a real server answers the client of docs/protocol.md as the text says', async () => {
  await writeFile(file, 'abc', { mode: 0o644 });
  await utimes(file, MTIME_MS / 1000, MTIME_MS / 1000);
  const events: ServeEvent[] = [];
  let digestKnown = () => {};
  const known = new Promise<void>((resolve) => {
    digestKnown = resolve;
  });
  const server = await serveFile({
    file,
    port: 0,
    host: '127.0.0.1',
    codec: 'lz4',
    chunkSize: 65_536,
    until: 1,
    onEvent: (event) => {
      events.push(event);
      if (event.event === 'digest') digestKnown();
    },
  });
  await known;
  const socket = connect(server.port, '127.0.0.1');
  const conversation = new Conversation(socket);
  for (const turn of SESSION) {
    if (turn.side === 'C') socket.write(turn.bytes);
    else await conversation.compare(turn);
  }
  socket.end();
  const { verified } = await server.finished;
  expect(verified).toBe(1);
  expect(events.find(({ event }) => event === 'client.finished')).toMatchObject({
    verified: true,
    limitedBy: 'network',
    share: 0.75,
  });
});

test('a real client makes the file from what the server of docs/protocol.md says', async () => {
  const target = join(temp.path, 'out.txt');
  await writeFile(`${target}.wirebound`, 'xyz');
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const getting = getFile({
    host: '127.0.0.1',
    port: (server.address() as AddressInfo).port,
    output: target,
    retryForMs: 0,
  });
  const [socket] = (await once(server, 'connection')) as [Socket];
  const conversation = new Conversation(socket);
  for (const turn of SESSION) {
    if (turn.side === 'S') socket.write(turn.bytes);
    else await conversation.compare(turn);
  }
  socket.end();
  expect(await getting).toMatchObject({ result: 'PASS', bytes: 3, path: target });
  expect(await readFile(target, 'utf8')).toBe('abc');
  expect((await stat(target)).mtimeMs).toBe(MTIME_MS);
  server.close();
});

/** What a real side says, frame by frame, beside what the text says it does. */
class Conversation {
  readonly #real: Frames;
  readonly #written = new Frames();
  readonly #socket: Socket;

  constructor(socket: Socket) {
    this.#socket = socket;
    this.#real = new Frames();
    socket.on('data', (bytes: Buffer) => this.#real.take(bytes));
  }

  /** Waits for as many frames as the turn has and compares them, apart from what chance and time decide. */
  async compare({ bytes }: HexTurn): Promise<void> {
    this.#written.take(bytes);
    for (let expected = this.#written.next(); expected !== undefined; expected = this.#written.next()) {
      let actual = this.#real.next();
      while (actual === undefined) {
        await once(this.#socket, 'data');
        actual = this.#real.next();
      }
      expect(settled(actual)).toEqual(settled(expected));
    }
  }
}

interface Said {
  readonly header: FrameHeader;
  readonly content: Buffer;
}

/** A frame without what differs from run to run. */
function settled({ header, content }: Said): unknown {
  switch (header.type) {
    case 'hello':
      return { type: 'hello', run: parseHello(content).run.length };
    case 'manifest':
      return { type: 'manifest', ...parseManifest(content, ['lz4']), transfer: undefined };
    case 'end':
      return header;
    case 'verdict':
      return { type: 'verdict', verified: parseVerdict(content).verified };
    default:
      return { header, content };
  }
}

/** Frames out of a stream, keepalives left out. */
class Frames {
  readonly #frames: Said[] = [];
  readonly #decoder = new FrameDecoder({
    limit: (type) => (type === 'chunk' ? 65_536 : PAYLOAD_LIMITS[type]),
    receive: ({ header, content }) => {
      if (header.type !== 'keepalive') this.#frames.push({ header, content: Buffer.from(content) });
    },
  });

  take(bytes: Uint8Array): void {
    feedDecoder(this.#decoder, bytes);
  }

  next(): Said | undefined {
    return this.#frames.shift();
  }
}
