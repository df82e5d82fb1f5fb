import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { ChainCache } from '#dist/core/digest/chain-cache.js';
import type { WireBoundError } from '#dist/core/errors.js';
import { content } from '../../../support/content.js';
import { createGate, isPending } from '../../../support/gate.js';
import { makeTempFolder } from '../../../support/temp-folder.js';
import { CHUNK_SIZE, openTestOffer, sha256 } from '../../../support/test-offer.js';
import { TestSource } from '../../../support/test-source.js';

const MIB = 1024 * 1024;
const FILE = content('random', 3 * MIB + 1);
const SPANS = [0, 1, 2, 3].map((span) => span * MIB);

let temp: Awaited<ReturnType<typeof makeTempFolder>>;
let cache: ChainCache;

beforeEach(async () => {
  temp = await makeTempFolder();
  cache = new ChainCache(temp.path);
});
afterEach(() => temp.remove());

describe('the first pass', () => {
  test('it reads the file once, tells the digest and keeps the chain for the next time', async () => {
    const { offer, source, told } = await open(new TestSource(Buffer.from(FILE)));
    expect(await isPending(offer.settled())).toBe(true);
    await offer.settled();
    expect(offer.chain.sha256).toBe(sha256(FILE));
    expect(source.reads).toEqual(SPANS);
    expect(told.digests).toEqual([[sha256(FILE), false]]);
    expect(told.progress.at(-1)).toEqual([3 * MIB, FILE.length]);
    await offer.close();

    const second = await open(new TestSource(Buffer.from(FILE)));
    await second.offer.settled();
    expect(second.source.reads).toEqual([]);
    expect(second.told.digests).toEqual([[sha256(FILE), true]]);
    expect(second.offer.transfer).not.toBe(offer.transfer);
    await second.offer.close();
  });

  test('asked to hash again it does not look into the cache', async () => {
    await settle(new TestSource(Buffer.from(FILE)));
    const { source, told } = await settle(new TestSource(Buffer.from(FILE)), { rehash: true });
    expect(source.reads).toEqual(SPANS);
    expect(told.digests).toEqual([[sha256(FILE), false]]);
  });

  test('an empty file is told of once', async () => {
    const { told, offer } = await settle(new TestSource(Buffer.alloc(0)));
    expect(told.digests).toEqual([[sha256(Buffer.alloc(0)), false]]);
    expect(offer.chain.complete).toBe(true);
  });

  test.each([
    ['within the last two seconds', 500, true],
    ['three seconds ago', 3000, false],
  ])('the chain of a file that changed %s', async (_, agoMs, readAgain) => {
    const changed = () =>
      Object.assign(new TestSource(Buffer.from(FILE)), { changedAtMs: Date.now() - agoMs });
    await settle(changed());
    const { source } = await settle(changed());
    expect(source.reads.length > 0).toBe(readAgain);
  });

  test('a source that cannot tell whether it changed is served, and never kept', async () => {
    await settle(new TestSource(FILE, { withoutIdentity: true }));
    const { source, offer } = await settle(new TestSource(FILE, { withoutIdentity: true }));
    expect(source.reads).toEqual(SPANS);
    expect(offer.chain.sha256).toBe(sha256(FILE));
  });

  test('without a cache nothing is kept', async () => {
    const source = new TestSource(FILE);
    const { offer } = await openTestOffer(source);
    await offer.settled();
    await offer.close();
    expect(await cache.load(source.key, FILE.length, CHUNK_SIZE)).toBeUndefined();
  });

  test('a read error fails the chain and retires the offer', async () => {
    const failure = Object.assign(new Error('EIO: i/o error, read'), { code: 'EIO' });
    const { offer, told } = await open(
      new TestSource(FILE, {
        beforeRead: (offset) => {
          if (offset === MIB) throw failure;
        },
      }),
    );
    await expect(offer.settled()).rejects.toMatchObject({ code: 'SOURCE_UNREADABLE' });
    const { count } = offer.geometry;
    await expect(offer.chain.reach(count - 1, new AbortController().signal)).rejects.toMatchObject({
      code: 'SOURCE_UNREADABLE',
      cause: failure,
    });
    expect(reasonOf(offer.retired)).toMatchObject({ code: 'SOURCE_UNREADABLE' });
    expect(told.digests).toEqual([]);
    await offer.close();
  });
});

describe('a file that changes under the pass', () => {
  test('touched but the same: a second pass decides, and the chain is kept', async () => {
    const source = touching(MIB, () => undefined);
    const { offer, told } = await settle(source);
    expect(source.reads).toEqual([...SPANS, ...SPANS]);
    expect(told.warnings).toEqual(['file.bin was touched while it was hashed; hashing it again']);
    expect(told.digests).toEqual([[sha256(FILE), false]]);
    expect(offer.chain.sha256).toBe(sha256(FILE));
    expect(await cache.load('touched', FILE.length, CHUNK_SIZE)).toBeDefined();
    expect(await cache.load('untouched', FILE.length, CHUNK_SIZE)).toBeUndefined();
  });

  test('changed behind the reader: no chain that blesses the mixture, the offer is retired', async () => {
    const source = touching(2 * MIB, () => source.content.fill(0, 0, 100));
    const { offer, told } = await open(source);
    await expect(offer.settled()).rejects.toMatchObject({
      code: 'SOURCE_CHANGED',
      message: 'file.bin was changed while it was served',
    });
    expect(reasonOf(offer.retired).code).toBe('SOURCE_CHANGED');
    expect(told.digests).toEqual([]);
    expect(await cache.load('untouched', FILE.length, CHUNK_SIZE)).toBeUndefined();
    expect(await cache.load('touched', FILE.length, CHUNK_SIZE)).toBeUndefined();
    await offer.close();
  });

  test('grown: the original length is hashed again and decides', async () => {
    const source = touching(2 * MIB, () => {
      source.content = Buffer.concat([FILE, Buffer.from('more')]);
    });
    const { offer } = await settle(source);
    expect(offer.chain.sha256).toBe(sha256(FILE));
    await offer.checkSize();
  });

  test('truncated: refused at once, with the sizes', async () => {
    const source = touching(3 * MIB, () => {
      source.content = FILE.subarray(0, 2 * MIB);
    });
    const { offer } = await open(source);
    await expect(offer.settled()).rejects.toMatchObject({ code: 'SOURCE_CHANGED' });
    await expect(offer.checkSize()).rejects.toMatchObject({
      code: 'SOURCE_CHANGED',
      message: `file.bin was truncated to ${2 * MIB} of ${FILE.length} bytes while it was served`,
    });
    await offer.close();
  });

  test('truncated after the last read, before the pass is over: refused all the same', async () => {
    const source = new TestSource(Buffer.from(FILE));
    const { offer } = await open(source);
    await offer.chain.reach(offer.geometry.count - 1, new AbortController().signal);
    source.key = 'touched';
    source.content = FILE.subarray(0, 1);
    await offer.settled().catch(() => undefined);
    await expect(offer.checkSize()).rejects.toMatchObject({ code: 'SOURCE_CHANGED' });
    await offer.close();
  });
});

describe('complaints', () => {
  test('the first one about a file that nobody touched does nothing', async () => {
    const { offer, source } = await keep(new TestSource(Buffer.from(FILE)));
    await offer.complain(3);
    await offer.complain(4);
    expect(source.reads.length).toBe(SPANS.length);
    expect(offer.retired.aborted).toBe(false);
    await offer.close();
  });

  test.each([
    ['the first one about a touched file', 1],
    ['the second one about the same chunk', 2],
  ])('%s has it hashed again; the same result keeps the offer', async (_, complaints) => {
    const { offer, source } = await keep(new TestSource(Buffer.from(FILE)));
    if (complaints === 1) source.key = 'touched';
    for (let each = 0; each < complaints; each++) await offer.complain(3);
    expect(source.reads).toEqual([...SPANS, ...SPANS]);
    expect(offer.retired.aborted).toBe(false);
    await offer.settled();
    // That was the answer for this touch and this chunk: both begin anew.
    await offer.complain(3);
    expect(source.reads.length).toBe(2 * SPANS.length);
    await offer.close();
  });

  test('another result retires the offer and drops the chain from the cache', async () => {
    const { offer, source } = await keep(new TestSource(Buffer.from(FILE)));
    expect(await cache.load('untouched', FILE.length, CHUNK_SIZE)).toBeDefined();
    source.content.fill(0, MIB, MIB + 10);
    await offer.complain(16);
    await offer.complain(16);
    expect(reasonOf(offer.retired)).toMatchObject({ code: 'SOURCE_CHANGED' });
    await expect(offer.settled()).rejects.toMatchObject({ code: 'SOURCE_CHANGED' });
    expect(await cache.load('untouched', FILE.length, CHUNK_SIZE)).toBeUndefined();
    await offer.close();
  });

  test('many at once have it hashed once, while the old chain goes on serving', async () => {
    const gate = createGate();
    let passes = 0;
    const source = new TestSource(Buffer.from(FILE), {
      beforeRead: async (offset) => {
        if (offset === 0 && ++passes === 2) await gate.opened;
      },
    });
    const { offer } = await keep(source);
    source.key = 'touched';
    const complaints = Promise.all([1, 1, 2, 3, 3].map((index) => offer.complain(index)));
    expect(await isPending(complaints)).toBe(true);
    expect([offer.chain.complete, offer.retired.aborted]).toEqual([true, false]);
    await offer.settled();
    gate.open();
    await complaints;
    expect(passes).toBe(2);
    await offer.close();
  });

  test('while the first pass runs only a touched file and a second complaint retire the offer', async () => {
    const gate = createGate();
    const source = new TestSource(Buffer.from(FILE), {
      beforeRead: (offset) => (offset === 2 * MIB ? gate.opened : undefined),
    });
    const { offer } = await open(source);
    await offer.complain(1);
    await offer.complain(1);
    source.key = 'touched';
    await offer.complain(2);
    expect(offer.retired.aborted).toBe(false);
    await offer.complain(1);
    expect(reasonOf(offer.retired)).toMatchObject({ code: 'SOURCE_CHANGED' });
    gate.open();
    await expect(offer.settled()).rejects.toMatchObject({ code: 'SOURCE_CHANGED' });
    await offer.close();
  });
});

describe('closing', () => {
  test('ends the pass, retires the offer and closes the source', async () => {
    const { offer, source } = await open(new TestSource(FILE));
    await offer.close();
    expect(reasonOf(offer.retired)).toMatchObject({ code: 'STOPPED' });
    await expect(offer.settled()).rejects.toMatchObject({ code: 'STOPPED' });
    expect(source.closed).toBe(1);
    expect(source.reads.length).toBeLessThan(SPANS.length);
  });

  test('in the middle of hashing again leaves the cached chain where it is', async () => {
    let passes = 0;
    const source = new TestSource(Buffer.from(FILE), {
      beforeRead: (offset) => {
        if (offset === 0) passes++;
        if (passes === 2 && offset === MIB) closed = offer.close();
      },
    });
    const { offer } = await keep(source);
    let closed: Promise<void> | undefined;
    source.key = 'touched';
    await offer.complain(0);
    await closed;
    expect(source.closed).toBe(1);
    expect(await cache.load('untouched', FILE.length, CHUNK_SIZE)).toBeDefined();
  });
});

function open(source: TestSource, options: { readonly rehash?: boolean } = {}) {
  return openTestOffer(source, { cache, ...options });
}

/** Opens an offer and waits for its pass. */
async function keep(source: TestSource) {
  const opened = await open(source);
  await opened.offer.settled();
  return opened;
}

async function settle(source: TestSource, options: { readonly rehash?: boolean } = {}) {
  const opened = await open(source, options);
  await opened.offer.settled();
  await opened.offer.close();
  return opened;
}

/** A source that looks touched, and has `change` done to it, when its byte `at` is read for the first time. */
function touching(at: number, change: () => void): TestSource {
  const source: TestSource = new TestSource(Buffer.from(FILE), {
    beforeRead: (offset) => {
      if (offset !== at || source.key === 'touched') return;
      source.key = 'touched';
      change();
    },
  });
  return source;
}

function reasonOf(signal: AbortSignal): WireBoundError {
  expect(signal.aborted).toBe(true);
  return signal.reason as WireBoundError;
}
