import { readdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import lz4 from 'lz4-napi';
import { encodeFrame } from '#dist/core/framing/encode-frame.js';
import { content } from '../support/content.js';
import { runCli } from '../support/run-cli.js';
import {
  END_FRAME,
  openScriptedServer,
  ScriptedContent,
  type ScriptedPeer,
  type ScriptedServer,
  serveContent,
  welcome,
} from '../support/scripted-peer.js';
import { makeTempFolder } from '../support/temp-folder.js';
import { testGet } from '../support/test-server.js';

const CHUNK = 64 * 1024;
const FILE = new ScriptedContent(content('log', 4 * CHUNK));

let folder: Awaited<ReturnType<typeof makeTempFolder>>;
let server: ScriptedServer | undefined;

beforeEach(async () => {
  folder = await makeTempFolder();
});
afterEach(async () => {
  await server?.close();
  server = undefined;
  await folder.remove();
});

/** What a `get` from a server of that script comes to; nothing may be left under the final name. */
async function outcome(
  script: (peer: ScriptedPeer, connection: number) => Promise<unknown>,
  options: Parameters<typeof testGet>[1] = {},
): Promise<{ readonly code: unknown; readonly message: string }> {
  server = await openScriptedServer(async (peer, connection) => {
    await script(peer, connection);
  });
  const output = join(folder.path, 'out');
  const result = await testGet(server.port, { output, retryForMs: 0, ...options }).catch((error) => error);
  expect(result.result ?? 'FAIL').toBe('FAIL');
  await expect(stat(output)).rejects.toMatchObject({ code: 'ENOENT' });
  const partial = await stat(`${output}.wirebound`).catch(() => ({ size: 0 }));
  expect(partial.size).toBeLessThanOrEqual(FILE.bytes.length);
  return { code: result.code, message: String(result.message) };
}

/** A server that sends these chunk frames, whatever was asked for, then End. */
function sends(frames: readonly Uint8Array[], end: Uint8Array = END_FRAME) {
  return async (peer: ScriptedPeer) => {
    await welcome(peer, FILE.manifest({ codecs: ['lz4'] }));
    await peer.frame('get');
    await peer.send(...frames, end);
    await peer.over();
  };
}

function header(type: number, length: number, index = 0): Buffer {
  const bytes = Buffer.alloc(44);
  bytes.writeUInt8(type, 0);
  bytes.writeUInt32BE(length, 4);
  bytes.writeUInt32BE(index, 8);
  return bytes;
}

const good = [0, 1, 2, 3].map((index) => FILE.frame(index));
const [first, second, third, fourth] = good as [Buffer, Buffer, Buffer, Buffer];

describe('chunks that are not the next one (B73)', () => {
  test.each([
    ['beyond the end', [first, second, third, header(6, CHUNK, 9999)], 'chunk 9999 came where chunk 3 of 4'],
    ['twice', [first, second, second], 'chunk 1 came where chunk 2 of 4 was due'],
    ['backwards', [fourth, third, second, first], 'chunk 3 came where chunk 0 of 4 was due'],
    ['at 2^32-1', [first, header(6, CHUNK, 0xffff_ffff)], 'chunk 4294967295 came where chunk 1 of 4'],
    ['with a gap', [first, third, fourth], 'chunk 2 came where chunk 1 of 4 was due'],
    ['that are too many', [...good, first], 'a frame of type chunk announces 65536 bytes, the limit is 0'],
    ['of one byte', [first, header(6, 1, 1)], 'chunk 1 of 4 has 1 bytes of payload for 65536 raw ones'],
    ['of no byte', [header(6, 0)], 'chunk 0 of 4 has 0 bytes of payload for 65536 raw ones'],
    ['of type 0', [first, header(0, 0)], 'unknown frame type 0'],
    ['of type 255', [first, header(255, 0)], 'unknown frame type 255'],
  ])('%s are a protocol error that says so', async (_, frames, message) => {
    const padded = [...frames, Buffer.alloc(CHUNK)];
    const failure = await outcome(sends(padded));
    expect(failure).toMatchObject({ code: 'PROTOCOL' });
    expect(failure.message).toContain(message);
  });

  test('whose bytes are right but of another place are a mismatch', async () => {
    const frames = [0, 1, 2, 3].map((index) => FILE.frameWith(index, FILE.chunk((index + 1) % 4)));
    const failure = await outcome(sends(frames));
    expect(failure).toMatchObject({ code: 'DIGEST_MISMATCH' });
    expect(failure.message).toMatch(
      /^SHA-256 mismatch at chunk 0 of 4: .* is [0-9a-f]{64} and should be [0-9a-f]{64}$/,
    );
  });

  test('do not make a second manifest acceptable', async () => {
    expect(await outcome(sends([first, FILE.manifest()]))).toMatchObject({
      code: 'PROTOCOL',
      message: expect.stringContaining('a frame of type manifest is not allowed here'),
    });
  });
});

describe('lengths over the limit (B72)', () => {
  test.each([
    ['a manifest', async (peer: ScriptedPeer) => welcome(peer, header(2, 0xffff_ffff).subarray(0, 8))],
    ['a chunk', sends([header(6, 0xffff_ffff)])],
    ['a chunk one byte too long', sends([header(6, CHUNK + 1)])],
    ['an error', sends([header(9, 0x7fff_ffff)])],
    ['a keepalive', sends([header(10, 41)])],
    ['an End', sends([header(7, 21)])],
  ])('in %s are refused before anything is allocated', async (_, script) => {
    const before = process.memoryUsage().arrayBuffers;
    const failure = await outcome(script);
    expect(failure.code).toBe('PROTOCOL');
    expect(failure.message).toMatch(/announces \d+ bytes, the limit is \d+/);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(20 * 2 ** 20);
  });

  test.each([
    ['chunkSize', 0],
    ['chunkSize', 1],
    ['chunkSize', 65537],
    ['chunkSize', 2 ** 25],
    ['chunkSize', 0xffff_ffff],
    ['chunkSize', '65536'],
    ['chunkSize', null],
    ['chunkSize', -65536],
    ['entry.size', -1],
    ['entry.size', 1.5],
    ['entry.size', 2 ** 53],
    ['entry.size', 1e300],
    ['entry.size', '10'],
    ['entry.size', []],
    ['entry.size', 2 ** 53 - 1],
    ['entry.mtimeMs', -1],
    ['entry.executable', 1],
    ['entry.path', 7],
    ['entry.path', 'x'.repeat(4097)],
    ['entry.sha256', 'z'.repeat(64)],
    ['entry.sha256', ' '.repeat(64)],
    ['entry.sha256', '\0'.repeat(64)],
    ['entry.sha256', 'a'.repeat(63)],
    ['entries', []],
    ['entries', {}],
    ['codecs', 'none'],
    ['codecs', ['../lz4']],
    ['codecs', ['__proto__']],
    ['codecs', ['constructor']],
    ['codecs', ['x'.repeat(300)]],
    ['codecs', ['zstd']],
    ['transfer', 5],
  ])(
    'and %s = %j in a manifest are a protocol error before any file is made (B63 B72 B76)',
    async (field, value) => {
      const [, name] = field.split('.');
      const changes = name === undefined ? { [field]: value } : { entry: { [name]: value } };
      const failure = await outcome(async (peer) => {
        await welcome(peer, FILE.manifest(changes));
        await peer.over();
      });
      expect(failure.code).toBe('PROTOCOL');
      expect(failure.message).not.toMatch(/undefined|NaN|\[object/);
      expect(await readdir(folder.path)).toEqual([]);
    },
  );

  test.each([
    ['nesting of 20,000 levels', Buffer.from('['.repeat(20_000))],
    ['no JSON', Buffer.from('{"entries":')],
    ['a list', Buffer.from('[]')],
    ['null', Buffer.from('null')],
    ['bytes that are not UTF-8', Buffer.from([0x7b, 0xff, 0xfe, 0x7d])],
    ['nothing', Buffer.alloc(0)],
  ])('and a manifest of %s is a protocol error', async (_, bytes) => {
    const failure = await outcome(async (peer) => {
      await welcome(peer, encodeFrame('manifest', bytes));
      await peer.over();
    });
    expect(failure.code).toBe('PROTOCOL');
  });
});

describe('a manifest that does not fit what follows (B74 B76)', () => {
  test('and an End after three of four chunks name both numbers', async () => {
    expect(await outcome(sends([first, second, third]))).toMatchObject({
      code: 'PROTOCOL',
      message: expect.stringContaining('ended after 196608 of 262144 bytes'),
    });
  });

  test('cannot be made good by a digest that fits the short data', async () => {
    const { chain } = FILE;
    const sha256 = Buffer.from(chain.digest(2)).toString('hex');
    const failure = await outcome(async (peer) => {
      await welcome(peer, FILE.manifest({ entry: { sha256 } }));
      await peer.frame('get');
      await peer.send(first, second, third, END_FRAME);
      await peer.over();
    });
    expect(failure).toMatchObject({ code: 'PROTOCOL' });
  });

  test.each([
    [10, 'chunk 0 of 1 has 65536 bytes of payload for 10 raw ones'],
    [0, 'the limit is 0'],
  ])('and says %i bytes where a whole chunk comes', async (size, message) => {
    const failure = await outcome(async (peer) => {
      await welcome(peer, FILE.manifest({ entry: { size } }));
      await peer.frame('get');
      await peer.send(first, END_FRAME);
      await peer.over();
    });
    expect(failure.code).toBe('PROTOCOL');
    expect(failure.message).toMatch(size === 10 ? /the limit is 10|65536 bytes of payload/ : message);
  });

  test('in the upper-case digits of a right digest is accepted', async () => {
    const sha256 = FILE.chain.sha256 as string;
    server = await openScriptedServer(async (peer) => {
      await serveContent(peer, FILE, {
        manifest: FILE.manifest({ entry: { sha256: sha256.toUpperCase() } }),
      });
    });
    const result = await testGet(server.port, { expect: sha256 });
    expect(result).toMatchObject({ result: 'PASS', sha256 });
  });

  test('and whose digest is another is refused where the user named one', async () => {
    const failure = await outcome(
      async (peer) => {
        await welcome(peer, FILE.manifest({ entry: { sha256: 'ab'.repeat(32) } }));
        await peer.over();
      },
      { expect: FILE.chain.sha256 },
    );
    expect(failure).toMatchObject({ code: 'DIGEST_MISMATCH' });
  });

  test('and a connection that ends inside a header is a lost connection', async () => {
    const failure = await outcome(async (peer) => {
      await welcome(peer, FILE.manifest());
      await peer.frame('get');
      await peer.send(first, second.subarray(0, 5));
      peer.socket.end();
    });
    expect(failure.code).toBe('CONNECTION_LOST');
    expect(failure.message).toMatch(/chunk 1 of 4 was due, 65536 of 262144 bytes are verified/);
  });
});

describe('an LZ4 payload that does not decode to its chunk (B65 B67)', () => {
  const block = lz4.compressSync(FILE.chunk(0)).subarray(4);
  const flipped = Buffer.from(block);
  flipped.writeUInt8(flipped.readUInt8(20) ^ 0xff, 20);
  const bomb = lz4.compressSync(Buffer.alloc(2 ** 24)).subarray(4);

  test.each([
    ['cut short', block.subarray(0, -5)],
    ['three bytes', Buffer.from([1, 2, 3])],
    ['random bytes', content('random', 1000)],
    ['a flipped byte', flipped],
    ['a forged length in front of it', Buffer.concat([Buffer.from([255, 255, 255, 255]), block])],
    ['a length of 0 in front of it', Buffer.concat([Buffer.alloc(4), block])],
    ['16 MiB in few bytes', bomb.subarray(0, CHUNK - 1)],
  ])('(%s) names the chunk and the codec and is asked for again three times', async (_, payload) => {
    const failure = await outcome(sends([FILE.frameWith(0, payload, 1)]), { retryForMs: 30_000 });
    expect(['CODEC_FAILED', 'DIGEST_MISMATCH']).toContain(failure.code);
    expect(failure.message).toContain('chunk 0 of 4');
    expect(server?.peers).toHaveLength(3);
  });

  test('takes no memory for a forged length, even where there is little', async () => {
    const payload = Buffer.concat([Buffer.from([255, 255, 255, 255]), block]);
    server = await openScriptedServer(sends([FILE.frameWith(0, payload, 1)]));
    const { exitCode, signal, stderr } = await runCli(
      ['get', `127.0.0.1:${server.port}`, '-o', join(folder.path, 'out'), '--retry-for', '0'],
      { under: ['prlimit', '--as=3500000000'] },
    );
    expect({ exitCode, signal }).toEqual({ exitCode: 7, signal: null });
    expect(stderr).toMatch(/FAIL .*chunk 0 of 4: /);
  });

  test('whose codec number means nothing is a protocol error before its payload', async () => {
    for (const codec of [2, 0x7f, 255]) {
      const failure = await outcome(sends([FILE.frameWith(0, block, codec).subarray(0, 44)]));
      expect(failure).toMatchObject({ code: 'PROTOCOL' });
      expect(failure.message).toContain(`unknown codec number ${codec}`);
      await server?.close();
    }
  });
});

describe('a transfer that stops at 100 % (B54)', () => {
  const stuck = async (peer: ScriptedPeer) => {
    await welcome(peer, FILE.manifest());
    await peer.frame('get');
    await peer.send(...good);
    await peer.over();
  };

  test('says what is missing and keeps every verified byte', async () => {
    const failure = await outcome(stuck, { limits: { idleTimeoutMs: 300 } });
    expect(failure.code).toBe('IDLE');
    expect(failure.message).toMatch(/no data from 127.0.0.1:\d+ for 0 s/);
    expect((await stat(join(folder.path, 'out.wirebound'))).size).toBe(FILE.bytes.length);
  });

  test('is finished over another connection that asks for no chunk again', async () => {
    const asked: number[] = [];
    server = await openScriptedServer(async (peer, connection) => {
      if (connection === 0) return stuck(peer);
      await serveContent(peer, FILE, {
        chunk: (index) => {
          asked.push(index);
          return FILE.frame(index);
        },
      });
    });
    const output = join(folder.path, 'out');
    const result = await testGet(server.port, { output, limits: { idleTimeoutMs: 300 } });
    expect(result).toMatchObject({ result: 'PASS' });
    expect(asked).toEqual([]);
  });

  test('is no trouble when only the closing of the connection is missing', async () => {
    server = await openScriptedServer(async (peer) => {
      await welcome(peer, FILE.manifest());
      await peer.frame('get');
      await peer.send(...good, END_FRAME);
      await peer.frame('verdict');
      await peer.send(encodeFrame('keepalive', Buffer.alloc(4)));
      peer.socket.end();
    });
    expect(await testGet(server.port)).toMatchObject({ result: 'PASS' });
  });
});

describe('a chunk that is wrong again and again', () => {
  test('is fetched three times, the others once', async () => {
    const asked: number[] = [];
    const failure = await outcome(
      (peer) =>
        serveContent(peer, FILE, {
          chunk: (index) => {
            asked.push(index);
            return index === 2 ? FILE.frameWith(2, Buffer.alloc(CHUNK)) : FILE.frame(index);
          },
        }),
      { retryForMs: 30_000 },
    );
    expect(failure.code).toBe('DIGEST_MISMATCH');
    expect(failure.message).toContain('chunk 2 of 4');
    expect(asked.filter((index) => index === 2)).toHaveLength(3);
    expect(asked.filter((index) => index < 2)).toEqual([0, 1]);
  });

  test('is forgiven when it comes right the second time', async () => {
    const spoilt = new Set<number>();
    server = await openScriptedServer(async (peer) => {
      await serveContent(peer, FILE, {
        chunk: (index) => {
          if (index % 2 === 0 || spoilt.has(index)) return FILE.frame(index);
          spoilt.add(index);
          return FILE.frameWith(index, Buffer.alloc(CHUNK));
        },
      });
    });
    expect(await testGet(server.port)).toMatchObject({ result: 'PASS', sha256: FILE.chain.sha256 });
    expect(server.peers.length).toBeGreaterThan(1);
  });

  test('ends as a protocol error that names the chunk when it is the frame that is wrong', async () => {
    const failure = await outcome(
      (peer) =>
        serveContent(peer, FILE, { chunk: (index) => (index === 1 ? header(77, 0) : FILE.frame(index)) }),
      { retryForMs: 30_000 },
    );
    expect(failure.code).toBe('PROTOCOL');
    expect(failure.message).toMatch(/unknown frame type 77; chunk 1 of 4 was due/);
  });
});

test('a server that goes silent ends a get that does not reconnect, with the bytes so far (B29)', async () => {
  const failure = await outcome(sends([first], Buffer.alloc(0)), { limits: { idleTimeoutMs: 300 } });
  expect(failure.code).toBe('IDLE');
  expect(failure.message).toMatch(/no data .* 65536 of 262144 bytes are verified/);
});

test('an existing file stays what it is whatever a server sends', async () => {
  const output = join(folder.path, 'kept');
  await writeFile(output, 'precious');
  server = await openScriptedServer(sends([FILE.frameWith(0, Buffer.alloc(CHUNK))]));
  const result = await testGet(server.port, { output, force: true });
  expect(result).toMatchObject({ result: 'FAIL' });
  expect((await stat(output)).size).toBe(8);
});
