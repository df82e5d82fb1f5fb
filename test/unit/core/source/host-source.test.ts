import { readdirSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { WireBoundError } from '#dist/core/errors.js';
import type { ChunkSource } from '#dist/core/source/chunk-source.js';
import { hostSource } from '#dist/core/source/host-source.js';
import { content } from '../../../support/content.js';
import { makeTempFolder } from '../../../support/temp-folder.js';

const MIB = 2 ** 20;
let folder: Awaited<ReturnType<typeof makeTempFolder>>;
beforeEach(async () => {
  folder = await makeTempFolder();
});
afterEach(() => folder.remove());

const options = (more = {}) => ({ provider: 'far', reference: 'far://x', spoolFolder: folder.path, ...more });

function over(bytes: Buffer, changes: Partial<ChunkSource> = {}): ChunkSource {
  return {
    name: 'x.bin',
    size: bytes.length,
    read: async (offset, into) => bytes.copy(into, 0, offset),
    close: async () => {},
    ...changes,
  };
}

async function readAll(source: ChunkSource, piece = 300_000): Promise<Buffer> {
  const all = Buffer.alloc(source.size);
  for (let at = 0; at < all.length; at += piece) await source.read(at, all.subarray(at, at + piece));
  return all;
}

describe('any source', () => {
  test.each([
    ['nothing', undefined, /without a size or a way to read it$/],
    ['no reader', { name: 'x', size: 1 }, /without a size or a way to read it$/],
    ['a size that is no number', over(Buffer.alloc(1), { size: Number.NaN }), /without a size/],
    [
      'a path for a name',
      over(Buffer.alloc(1), { name: '../x' }),
      /under "\.\.\/x" instead of the name of a file$/,
    ],
    ['no name', { ...over(Buffer.alloc(1)), name: undefined }, /under a name that is undefined/],
  ])('with %s is refused as the fault of its plugin', async (_, opened, message) => {
    await expect(hostSource(opened, options())).rejects.toMatchObject({
      code: 'PLUGIN_FAILED',
      message: expect.stringMatching(message),
    });
  });

  test('goes by the name that was asked for', async () => {
    const { source } = await hostSource(over(Buffer.alloc(1), { name: '' }), options({ name: 'mine' }));
    expect(source.name).toBe('mine');
  });

  test.each([-1, 9, 1.5, Number.NaN, undefined, '4'])(
    'that counts %p of 8 bytes is refused',
    async (count) => {
      const { source } = await hostSource(
        over(Buffer.alloc(8), { read: async () => count as number }),
        options(),
      );
      await expect(source.read(0, new Uint8Array(8))).rejects.toMatchObject({ code: 'PLUGIN_FAILED' });
    },
  );

  test('is never asked for bytes beyond its size', async () => {
    const asked: number[] = [];
    const read: ChunkSource['read'] = async (_, into) => asked.push(into.length) && into.length;
    const { source } = await hostSource(over(Buffer.alloc(8), { read }), options());
    expect([await source.read(4, new Uint8Array(8)), await source.read(9, new Uint8Array(8))]).toEqual([
      4, 0,
    ]);
    expect(asked).toEqual([4, 0]);
  });

  test('that throws is unreadable at a place; errors of ours stay as they are, also those of another copy', async () => {
    const own = new WireBoundError('SOURCE_CHANGED', 'it moved');
    const foreign = Object.assign(new Error('foreign'), {
      code: 'SOURCE_NOT_FOUND',
      [Symbol.for('wirebound.error')]: true,
    });
    const errors = [new Error('EIO'), own, foreign];
    const read = async () => {
      throw errors.shift();
    };
    const { source } = await hostSource(over(Buffer.alloc(8), { read }), options());
    await expect(source.read(4, new Uint8Array(1))).rejects.toMatchObject({
      code: 'SOURCE_UNREADABLE',
      message: '"far://x" cannot be read at byte 4: EIO',
    });
    await expect(source.read(0, new Uint8Array(1))).rejects.toBe(own);
    await expect(source.read(0, new Uint8Array(1))).rejects.toBe(foreign);
  });
});

describe('a remote source', () => {
  test('is read once, byte for byte, however many read it and in whatever order', async () => {
    const bytes = content('random', 20 * MIB + 12_345);
    const reads = new Map<number, number>();
    const read: ChunkSource['read'] = async (offset, into) => {
      reads.set(offset, (reads.get(offset) ?? 0) + 1);
      return bytes.copy(into, 0, offset);
    };
    const hosted = await hostSource(over(bytes, { remote: true, read }), options());
    const copies = await Promise.all([1, 2, 3].map((step) => readAll(hosted.source, step * 333_333)));
    expect(copies.every((copy) => copy.equals(bytes))).toBe(true);
    expect((await readAll(hosted.source)).equals(bytes)).toBe(true);
    expect([...reads.values()].every((count) => count === 1)).toBe(true);
    expect(hosted.bytesFetched()).toBe(bytes.length);
    await hosted.source.close();
    await hosted.source.close();
  });

  test('is read ahead, but not further than a few blocks', async () => {
    const bytes = Buffer.alloc(40 * MIB);
    const hosted = await hostSource(over(bytes, { remote: true }), options());
    await hosted.source.read(0, new Uint8Array(10));
    await hosted.source.close();
    expect(hosted.bytesFetched()).toBeGreaterThan(4 * MIB);
    expect(hosted.bytesFetched()).toBeLessThan(16 * MIB);
  });

  test('that failed at one place is asked again by the next reader', async () => {
    const bytes = content('random', 2 * MIB);
    let broken = true;
    const read: ChunkSource['read'] = async (offset, into) => {
      if (broken) throw new Error('gone for now');
      return bytes.copy(into, 0, offset);
    };
    const { source } = await hostSource(over(bytes, { remote: true, read }), options());
    await expect(source.read(MIB, new Uint8Array(10))).rejects.toThrow('gone for now');
    broken = false;
    expect((await readAll(source)).equals(bytes)).toBe(true);
    await source.close();
  });

  test('that has changed for good says so once and for all', async () => {
    const read = async () => {
      throw new WireBoundError('SOURCE_CHANGED', 'another one');
    };
    const { source } = await hostSource(over(Buffer.alloc(8), { remote: true, read }), options());
    await expect(source.read(0, new Uint8Array(8))).rejects.toMatchObject({ code: 'SOURCE_CHANGED' });
    expect(source.changed?.aborted).toBe(true);
    await source.close();
  });

  test('leaves nothing on the disk', async () => {
    const { source } = await hostSource(over(Buffer.alloc(3 * MIB), { remote: true }), options());
    await readAll(source);
    expect(process.platform === 'win32' ? [] : readdirSync(folder.path)).toEqual([]);
    await source.close();
    expect(readdirSync(folder.path)).toEqual([]);
  });
});

describe('a stream', () => {
  const bytes = content('log', 3 * MIB + 7);
  async function* pieces(length = bytes.length) {
    for (let at = 0; at < length; at += 100_003) yield bytes.subarray(at, Math.min(length, at + 100_003));
  }

  test.each([[undefined], [bytes.length]])(
    'of announced size %p is taken in and then read anywhere',
    async (size) => {
      let closed = 0;
      const told: number[] = [];
      const stream = {
        name: 's',
        stream: pieces(),
        ...(size === undefined ? {} : { size }),
        close: async () => void closed++,
      };
      const { source } = await hostSource(
        stream,
        options({ onProgress: (taken: number) => told.push(taken) }),
      );
      expect(source).toMatchObject({ name: 's', size: bytes.length, description: 'a copy on disk' });
      expect((await readAll(source)).equals(bytes)).toBe(true);
      expect(await source.read(bytes.length, new Uint8Array(1))).toBe(0);
      expect([closed, told.at(-1)]).toEqual([1, bytes.length]);
      await source.close();
      await source.close();
    },
  );

  test.each([
    [
      'ends early',
      { stream: pieces(1000), size: 2000 },
      'SOURCE_UNREADABLE',
      /ended after 1000 of 2000 bytes/,
    ],
    ['goes on', { stream: pieces(), size: 2000 }, 'SOURCE_UNREADABLE', /longer than the 2000 bytes/],
    [
      'yields text',
      {
        stream: (async function* () {
          yield 'x';
        })(),
      },
      'PLUGIN_FAILED',
      /a stream of strings/,
    ],
    [
      'fails',
      {
        stream: (async function* () {
          yield bytes;
          throw new Error('cut');
        })(),
      },
      'SOURCE_UNREADABLE',
      /after 3145735 bytes: cut/,
    ],
  ] as const)('that %s is refused, and nothing stays', async (_, stream, code, message) => {
    const failure = hostSource({ name: 's', ...stream }, options());
    await expect(failure).rejects.toMatchObject({ code, message: expect.stringMatching(message) });
    expect(readdirSync(folder.path)).toEqual([]);
  });

  test('that hangs can be given up', async () => {
    const stop = new AbortController();
    const stream = (async function* () {
      yield bytes;
      stop.abort(new WireBoundError('INTERRUPTED', 'stopped'));
      await new Promise(() => {});
    })();
    await expect(hostSource({ name: 's', stream }, options({ signal: stop.signal }))).rejects.toMatchObject({
      code: 'INTERRUPTED',
    });
  });
});
