import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { Codec } from '#dist/core/codec/codec.js';
import { ChainCache } from '#dist/core/digest/chain-cache.js';
import { WireBoundError } from '#dist/core/errors.js';
import { Shelf } from '#dist/core/server/shelf.js';
import { content } from '../../../support/content.js';
import { makeTempFolder } from '../../../support/temp-folder.js';
import { CHUNK_SIZE, sha256 } from '../../../support/test-offer.js';
import { TestSource } from '../../../support/test-source.js';

const OLD = content('random', 3 * CHUNK_SIZE, 1);
const NEW = content('random', 2 * CHUNK_SIZE, 2);

let temp: Awaited<ReturnType<typeof makeTempFolder>>;
let shelves: Shelf[];

beforeEach(async () => {
  temp = await makeTempFolder();
  shelves = [];
});
afterEach(async () => {
  for (const shelf of shelves) await shelf.close();
  await temp.remove();
});

describe('Shelf', () => {
  test('everyone gets the same offer while its content stands', async () => {
    const { shelf } = fill();
    const offers = await Promise.all([shelf.current(), shelf.current(), shelf.current()]);
    expect(new Set(offers).size).toBe(1);
    await offers[0]?.settled();
    expect(await shelf.current()).toBe(offers[0]);
  });

  test('once the content has changed the next client gets the new one, and the old source is closed', async () => {
    const { shelf, sources, told } = fill();
    const old = await changeUnder(shelf, sources);
    const [next, same] = await Promise.all([shelf.current(), shelf.current()]);
    await next.settled();
    expect(same).toBe(next);
    expect([next.geometry.size, next.chain.sha256]).toEqual([NEW.length, sha256(NEW)]);
    expect(next.transfer).not.toBe(old.transfer);
    expect(sources.map(({ closed }) => closed)).toEqual([1, 0]);
    expect(told.digests).toEqual([sha256(OLD), sha256(NEW)]);
  });

  test('a source that cannot be opened again is an error for that client; the next one tries again', async () => {
    const gone = new WireBoundError('SOURCE_NOT_FOUND', 'file.bin does not exist');
    let there = false;
    const { shelf, sources } = fill({
      beforeReopen: () => {
        if (!there) throw gone;
      },
    });
    await changeUnder(shelf, sources);
    await expect(shelf.current()).rejects.toBe(gone);
    await expect(shelf.current()).rejects.toBe(gone);
    there = true;
    expect((await shelf.current()).geometry.size).toBe(NEW.length);
  });

  test('a source whose offer cannot be opened is closed', async () => {
    const failure = new WireBoundError('SOURCE_UNREADABLE', 'EIO');
    const source = new TestSource(OLD);
    Object.assign(source, { identity: () => Promise.reject(failure) });
    const { shelf } = fill({ source });
    await expect(shelf.current()).rejects.toBe(failure);
    expect(source.closed).toBe(1);
  });

  test('only the first offer ignores the cache when asked to hash again', async () => {
    const cache = new ChainCache(temp.path);
    const first = fill({ cache });
    await (await first.shelf.current()).settled();
    const again = fill({ cache, rehash: true });
    await (await again.shelf.current()).settled();
    expect(again.sources[0]?.reads.length).toBe(1);
    const once = fill({ cache });
    await (await once.shelf.current()).settled();
    expect(once.sources[0]?.reads.length).toBe(0);
  });

  test('a codec that fails is warned of once, for all its chunks', async () => {
    const codec: Codec = {
      name: 'broken',
      encode: () => {
        throw new Error('cannot');
      },
      decode: (payload) => payload,
    };
    const { shelf, told } = fill({ codec });
    const offer = await shelf.current();
    for (const index of [0, 1, 2]) (await offer.payloads.payload(index, 1)).release();
    expect(told.warnings).toEqual([
      'broken could not encode a chunk of 65536 bytes: cannot (chunk 0 of 3); it is sent raw',
    ]);
  });

  test('closing closes the source, whether it was ever served or not', async () => {
    const served = fill();
    await served.shelf.current();
    await served.shelf.close();
    const unserved = fill();
    await unserved.shelf.close();
    expect([served, unserved].map(({ sources }) => sources[0]?.closed)).toEqual([1, 1]);
  });

  test('a closed shelf opens nothing any more', async () => {
    const { shelf, sources } = fill();
    await shelf.current();
    await shelf.close();
    await expect(shelf.current()).rejects.toMatchObject({ code: 'STOPPED' });
    expect(sources.length).toBe(1);
  });
});

interface FillOptions {
  readonly source?: TestSource;
  readonly beforeReopen?: () => void;
  readonly cache?: ChainCache;
  readonly rehash?: boolean;
  readonly codec?: Codec;
}

/** A shelf with OLD on it; the same reference opened again is NEW. */
function fill(options: FillOptions = {}) {
  const sources = [options.source ?? new TestSource(Buffer.from(OLD))];
  const told = { digests: [] as string[], warnings: [] as string[] };
  const shelf = new Shelf({
    source: sources[0] as TestSource,
    reopen: async () => {
      options.beforeReopen?.();
      const source = new TestSource(NEW);
      sources.push(source);
      return source;
    },
    chunkSize: CHUNK_SIZE,
    codecs: options.codec === undefined ? [] : [options.codec],
    cacheBytes: 64 * 1024 * 1024,
    cache: options.cache,
    rehash: options.rehash ?? false,
    observer: {
      digestKnown: (digest) => void told.digests.push(digest),
      progress: () => undefined,
      warn: (message) => void told.warnings.push(message),
    },
  });
  shelves.push(shelf);
  return { shelf, sources, told };
}

/** Changes the content of the current offer and has a client complain about it. */
async function changeUnder(shelf: Shelf, sources: readonly TestSource[]) {
  const offer = await shelf.current();
  await offer.settled();
  const [source] = sources as readonly [TestSource];
  source.content.fill(0, 0, 10);
  source.key = 'touched';
  await offer.complain(0);
  expect(offer.retired.aborted).toBe(true);
  return offer;
}
