import { describe, expect, test } from '@jest/globals';
import type { Codec } from '#dist/core/codec/codec.js';
import { Geometry } from '#dist/core/framing/geometry.js';
import { PayloadStore } from '#dist/core/server/payload-store.js';
import { content } from '../../../support/content.js';
import { createGate, isPending } from '../../../support/gate.js';
import { TestSource, type TestSourceOptions } from '../../../support/test-source.js';

const CHUNK_SIZE = 64 * 1024;
const COUNT = 10;
/** Every encoded chunk is this long. */
const ENCODED = 1000;
const FILE = content('log', COUNT * CHUNK_SIZE - 5);

describe('raw chunks', () => {
  test('a source that lends pages lends them for each payload, and gets them back', async () => {
    const { store, source } = create({ lends: true });
    const payloads = await Promise.all([0, 0, 9].map((index) => store.payload(index, 1)));
    expect(payloads.map(({ codec }) => codec)).toEqual([0, 0, 0]);
    expect(payloads[2]?.bytes.length).toBe(CHUNK_SIZE - 5);
    expect([source.openLoans, source.reads.length]).toEqual([3, 0]);
    for (const payload of payloads) payload.release();
    expect(source.openLoans).toBe(0);
  });

  test('a chunk that must be read is read once for everyone', async () => {
    const { store, source } = create();
    const payloads = await Promise.all(Array.from({ length: 20 }, () => store.payload(9, 0)));
    for (const { codec, bytes } of payloads) {
      expect(codec).toBe(0);
      expect(Buffer.compare(bytes, FILE.subarray(9 * CHUNK_SIZE))).toBe(0);
    }
    for (const payload of payloads) payload.release();
    (await store.payload(9, 0)).release();
    expect(source.reads).toEqual([9 * CHUNK_SIZE]);
  });

  test('a read that failed is tried again by the next client; all who waited are told', async () => {
    let broken = true;
    const failure = new Error('EIO');
    const { store, source } = create({
      beforeRead: () => {
        if (broken) throw failure;
      },
    });
    const waiting = [store.payload(1, 0), store.payload(1, 0)];
    for (const payload of waiting) await expect(payload).rejects.toBe(failure);
    broken = false;
    expect((await store.payload(1, 0)).bytes.length).toBe(CHUNK_SIZE);
    expect(source.reads.length).toBe(2);
  });

  test('a source that ends early is SOURCE_CHANGED, encoded or not', async () => {
    const { store, source } = create({}, countingCodec().codec);
    source.content = FILE.subarray(0, 5 * CHUNK_SIZE);
    for (const codec of [1, 0]) {
      await expect(store.payload(5, codec)).rejects.toMatchObject({ code: 'SOURCE_CHANGED' });
    }
  });
});

describe('encoded chunks', () => {
  test('a chunk is encoded once, however many clients ask for it at once and later', async () => {
    const { codec, encoded } = countingCodec();
    const { store } = create({ lends: true }, codec);
    const wanted = Array.from({ length: 200 }, (_, at) => at % COUNT);
    const payloads = await Promise.all(wanted.map((index) => store.payload(index, 1)));
    for (const payload of payloads) {
      expect([payload.codec, payload.bytes.length]).toEqual([1, ENCODED]);
      payload.release();
    }
    for (const index of wanted) (await store.payload(index, 1)).release();
    expect(encoded).toEqual(Array(COUNT).fill(1));
  });

  test('a client that cannot decode gets the same chunk raw', async () => {
    const { codec, encoded } = countingCodec();
    const { store } = create({ lends: true }, codec);
    const [raw, packed] = await Promise.all([store.payload(2, 0), store.payload(2, 1)]);
    expect([raw.codec, packed.codec]).toEqual([0, 1]);
    expect(encoded[2]).toBe(1);
  });

  test('that a chunk does not shrink is found once and remembered', async () => {
    const { codec, encoded } = countingCodec({ shrinks: (index) => index % 2 === 0 });
    const { store, source } = create({ lends: true }, codec);
    for (let round = 0; round < 3; round++) {
      const payloads = await Promise.all(
        Array.from({ length: COUNT }, (_, index) => store.payload(index, 1)),
      );
      expect(payloads.map((payload) => payload.codec)).toEqual(
        Array.from({ length: COUNT }, (_, at) => 1 - (at % 2)),
      );
      for (const payload of payloads) payload.release();
    }
    expect(encoded).toEqual(Array(COUNT).fill(1));
    expect([source.loans, source.openLoans]).toEqual([15, 0]);
  });

  test('a codec that fails has its chunks sent raw, and each failure is reported with its chunk', async () => {
    const { codec } = countingCodec({ throwsAt: [3, 4] });
    const { store, failures } = create({ lends: true }, codec);
    for (const index of [2, 3, 3, 4]) {
      const payload = await store.payload(index, 1);
      expect(payload.codec).toBe(index === 2 ? 1 : 0);
      payload.release();
    }
    expect(failures).toEqual([
      ['CODEC_FAILED', 3],
      ['CODEC_FAILED', 4],
    ]);
  });

  test('a chunk that is being encoded does not hold up another', async () => {
    const gate = createGate();
    const { codec } = countingCodec({ waitsAt: { 0: gate.opened } });
    const { store } = create({ lends: true }, codec);
    const held = store.payload(0, 1);
    expect((await store.payload(1, 1)).codec).toBe(1);
    expect(await isPending(held)).toBe(true);
    gate.open();
    expect((await held).codec).toBe(1);
  });

  test('a codec that does not answer is waited for once, and not asked again', async () => {
    const never = new Promise<void>(() => undefined);
    const { codec, encoded } = countingCodec({ waitsAt: { 0: never, 1: never } });
    const { store, failures } = create({}, codec, undefined, 50);
    const payloads = await Promise.all([0, 1, 2].map((index) => store.payload(index, 1)));
    expect(payloads.map(({ codec }) => codec)).toEqual([0, 0, 1]);
    expect(failures).toEqual([
      ['CODEC_FAILED', 0],
      ['CODEC_FAILED', 1],
    ]);
    payloads.push(await store.payload(2, 1), await store.payload(3, 1));
    expect(payloads.slice(3).map(({ codec }) => codec)).toEqual([0, 0]);
    expect(encoded.slice(0, 4)).toEqual([1, 1, 1, 0]);
    for (const [at, index] of [0, 1, undefined, 2, 3].entries()) {
      const { bytes, release } = payloads[at] as NonNullable<(typeof payloads)[0]>;
      if (index !== undefined) {
        expect(Buffer.compare(bytes, FILE.subarray(index * CHUNK_SIZE, (index + 1) * CHUNK_SIZE))).toBe(0);
      }
      release();
    }
  });

  test('a codec that returns a small part of a large allocation does not keep that alive', async () => {
    const codec: Codec = {
      name: 'spacious',
      encode: (chunk) => new Uint8Array(chunk.length).fill(9).subarray(0, 500),
      decode: (payload) => payload,
    };
    const { store } = create({}, codec);
    const { bytes, release } = await store.payload(0, 1);
    expect(Buffer.compare(bytes, Buffer.alloc(500, 9))).toBe(0);
    expect(bytes.buffer.byteLength).toBeLessThanOrEqual(1000);
    release();
  });

  test('one that waited for its turn until clients held all the room travels raw', async () => {
    const gates = Array.from({ length: 8 }, createGate);
    const { codec, encoded } = countingCodec({ waitsAt: gates.map(({ opened }) => opened) });
    const { store } = create({}, codec, ENCODED);
    const asked = Array.from({ length: COUNT }, (_, index) => store.payload(index, 1));
    expect(await isPending(Promise.any(asked))).toBe(true);
    gates[0]?.open();
    const [first, ninth, tenth] = [await asked[0], await asked[8], await asked[9]];
    expect([first?.codec, tenth?.codec, encoded[9]]).toEqual([1, 0, 0]);
    first?.release();
    ninth?.release();
    tenth?.release();
    const again = await store.payload(9, 1);
    expect(again.codec).toBe(1);
    for (const gate of gates) gate.open();
    for (const payload of [again, ...(await Promise.all(asked.slice(1, 8)))]) payload?.release();
  });

  test('what encoding reads into is not what travels', async () => {
    const { codec } = countingCodec();
    const { store } = create({ lends: true }, codec);
    const first = await store.payload(0, 1);
    const before = Buffer.from(first.bytes);
    for (let index = 1; index < COUNT; index++) (await store.payload(index, 1)).release();
    expect(Buffer.compare(first.bytes, before)).toBe(0);
  });
});

describe('the cache', () => {
  test('it keeps at most its capacity, the chunk that was used longest ago goes first', async () => {
    const { codec, encoded } = countingCodec();
    const { store } = create({ lends: true }, codec, 3 * ENCODED);
    const use = async (index: number) => (await store.payload(index, 1)).release();
    for (const index of [0, 1, 2, 0, 3]) await use(index);
    expect(encoded.slice(0, 4)).toEqual([1, 1, 1, 1]);
    for (const index of [0, 2, 3]) await use(index); // still there
    expect(encoded.slice(0, 4)).toEqual([1, 1, 1, 1]);
    await use(1); // had to go
    expect(encoded.slice(0, 4)).toEqual([1, 2, 1, 1]);
  });

  test('what a client is being sent stays, even beyond the capacity, until it is released', async () => {
    const { codec, encoded } = countingCodec();
    const { store } = create({ lends: true }, codec, ENCODED);
    const pinned = await Promise.all([0, 1, 2].map((index) => store.payload(index, 1)));
    for (const index of [0, 1, 2]) (await store.payload(index, 1)).release();
    expect(encoded.slice(0, 3)).toEqual([1, 1, 1]);
    expect(store.tight).toBe(true);
    for (const payload of pinned) payload.release();
    expect(store.tight).toBe(false);
    for (const index of [0, 1, 2]) (await store.payload(index, 1)).release();
    expect(encoded.slice(0, 3).reduce((sum, count) => sum + count)).toBeGreaterThanOrEqual(5);
  });
});

test('where clients hold all there is room for, chunks travel raw rather than take more', async () => {
  const { codec, encoded } = countingCodec();
  const { store } = create({ lends: true }, codec, 2 * ENCODED);
  const pinned = [await store.payload(0, 1), await store.payload(1, 1)];
  expect((await store.payload(2, 1)).codec).toBe(0);
  expect((await store.payload(1, 1)).codec).toBe(1);
  expect(encoded.slice(0, 3)).toEqual([1, 1, 0]);
  pinned[0]?.release();
  expect((await store.payload(2, 1)).codec).toBe(1);
});

describe('data that will not shrink', () => {
  const random = content('random', 130 * CHUNK_SIZE);

  test('is seldom given to the codec, never to a second one, and travels raw', async () => {
    const encodes = [0, 0];
    const codecs = encodes.map((_, at) => ({
      ...countingCodec().codec,
      encode: (chunk: Uint8Array) => {
        encodes[at] = (encodes[at] ?? 0) + 1;
        return new Uint8Array(chunk.length);
      },
    }));
    const { store } = create({ lends: true, content: random }, codecs);
    for (const [index, codec] of Array.from({ length: 130 }, (_, at) => [at, 1 + (at & 1)] as const)) {
      for (const number of [codec, 3 - codec]) {
        const payload = await store.payload(index, number);
        expect(payload.codec).toBe(0);
        payload.release();
      }
    }
    expect(encodes[0]).toBeGreaterThanOrEqual(1);
    expect(encodes[0]).toBeLessThanOrEqual(4);
    expect(encodes[1]).toBe(0);
  });
});

interface CodecOptions {
  readonly shrinks?: (index: number) => boolean;
  readonly throwsAt?: readonly number[];
  readonly waitsAt?: Readonly<Record<number, Promise<void>>>;
}

/** A codec that counts how often it encoded each chunk of FILE. */
function countingCodec({ shrinks = () => true, throwsAt = [], waitsAt = {} }: CodecOptions = {}) {
  const encoded = new Array<number>(COUNT).fill(0);
  const codec: Codec = {
    name: 'counting',
    async encode(chunk) {
      const index = FILE.indexOf(chunk.subarray(0, 500)) / CHUNK_SIZE;
      encoded[index] = (encoded[index] ?? 0) + 1;
      await waitsAt[index];
      if (throwsAt.includes(index)) throw new Error('cannot');
      return new Uint8Array(shrinks(index) ? ENCODED : chunk.length).fill(index);
    },
    decode: (payload) => payload,
  };
  return { codec, encoded };
}

interface CreateOptions extends TestSourceOptions {
  readonly content?: Uint8Array;
}

function create(
  options: CreateOptions = {},
  codecs: Codec | readonly Codec[] = [],
  capacity = 64 * 1024 * 1024,
  encodeTimeoutMs?: number,
) {
  const source = new TestSource(options.content ?? FILE, options);
  const failures: (readonly [string, number])[] = [];
  const store = new PayloadStore(source, new Geometry(source.size, CHUNK_SIZE), [codecs].flat() as Codec[], {
    capacity,
    encodeTimeoutMs,
    onCodecFailure: (failure, index) => void failures.push([failure.code, index]),
  });
  return { store, source, failures };
}
