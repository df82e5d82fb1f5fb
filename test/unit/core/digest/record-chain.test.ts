import { createHash } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { Chain } from '#dist/core/digest/chain.js';
import { type Pace, readWhole, recordChain } from '#dist/core/digest/record-chain.js';
import { WireBoundError } from '#dist/core/errors.js';
import { Geometry } from '#dist/core/framing/geometry.js';
import { content } from '../../../support/content.js';
import { createGate, isPending } from '../../../support/gate.js';
import { prefixDigests } from '../../../support/prefix-digests.js';
import { TestSource, type TestSourceOptions } from '../../../support/test-source.js';

const KIB = 1024;
const MIB = 1024 * KIB;
const CHUNK_SIZE = 64 * KIB;
const never = new AbortController().signal;
const freely: Pace = async () => undefined;

describe('recordChain', () => {
  test.each([
    [0, 64 * KIB],
    [1, 64 * KIB],
    [64 * KIB, 64 * KIB],
    [64 * KIB + 1, 64 * KIB],
    [MIB, 64 * KIB],
    [4 * MIB - 1, 64 * KIB],
    [9 * MIB + 5, 68 * KIB],
    [9 * MIB, MIB],
    [11 * MIB, 2 * MIB],
  ])('%i bytes in chunks of %i give the digests of all prefixes', async (size, chunkSize) => {
    const bytes = content('random', size);
    const { chain, done } = record(bytes, { chunkSize });
    await done;
    expect(chain.complete).toBe(true);
    expect(Buffer.from(chain.bytes)).toEqual(prefixDigests(bytes, chunkSize));
  });

  test('each digest is SHA-256 of all bytes up to the end of its chunk', async () => {
    const bytes = content('random', 3 * CHUNK_SIZE + 1);
    const { chain, done } = record(bytes);
    await done;
    const ends = [1, 2, 3].map((chunks) => chunks * CHUNK_SIZE).concat(bytes.length);
    ends.forEach((end, index) => {
      const byTheBook = createHash('sha256').update(bytes.subarray(0, end)).digest();
      expect(Buffer.from(chain.digest(index))).toEqual(byTheBook);
    });
  });

  test('each byte is read once, from front to back', async () => {
    const { source, done } = record(content('random', 5 * MIB));
    await done;
    expect(source.reads).toEqual([0, 1, 2, 3, 4].map((span) => span * MIB));
  });

  test('a source that ends early is SOURCE_CHANGED, and names the byte', async () => {
    const bytes = content('random', 3 * MIB);
    const { chain, done } = record(bytes, {
      beforeRead(offset) {
        if (offset === 2 * MIB) this.source.content = bytes.subarray(0, 2 * MIB + 100);
      },
    });
    await expect(done).rejects.toMatchObject({
      code: 'SOURCE_CHANGED',
      message: `file.bin ends at byte ${2 * MIB + 100}, it had ${3 * MIB} bytes when it was opened`,
    });
    expect(chain.complete).toBe(false);
    const known = prefixDigests(bytes, CHUNK_SIZE).subarray(0, chain.bytes.length);
    expect(Buffer.from(chain.bytes)).toEqual(known);
  });

  test('a read error comes out as it is', async () => {
    const failure = Object.assign(new Error('EIO: i/o error, read'), { code: 'EIO' });
    const { done } = record(content('random', 3 * MIB), {
      beforeRead(offset) {
        if (offset === MIB) throw failure;
      },
    });
    await expect(done).rejects.toBe(failure);
  });

  test('an abort ends the pass between two reads', async () => {
    const controller = new AbortController();
    const reason = new WireBoundError('STOPPED', 'the server was stopped');
    const { source, done } = record(content('random', 5 * MIB), {
      signal: controller.signal,
      beforeRead(offset) {
        if (offset === 2 * MIB) controller.abort(reason);
      },
    });
    await expect(done).rejects.toBe(reason);
    expect(source.reads).toEqual([0, MIB, 2 * MIB]);
  });

  test('it reads no further than its pace allows', async () => {
    const gate = createGate();
    const asked: number[] = [];
    const held = createGate();
    const pace: Pace = async (index) => {
      asked.push(index);
      if (index !== 32) return;
      held.open();
      await gate.opened;
    };
    const { source, chain, done } = record(content('random', 4 * MIB), { pace });
    await held.opened;
    await chain.reach(31, never);
    expect(await isPending(done)).toBe(true);
    expect(source.reads).toEqual([0, MIB]);
    gate.open();
    await done;
    expect(asked).toEqual([0, 16, 32, 48]);
    expect(chain.complete).toBe(true);
  });

  test('what the pace throws ends the pass', async () => {
    const reason = new WireBoundError('STOPPED', 'the server was stopped');
    const { source, done } = record(content('random', 4 * MIB), { pace: () => Promise.reject(reason) });
    await expect(done).rejects.toBe(reason);
    expect(source.reads).toEqual([]);
  });
});

describe('readWhole', () => {
  test('it fills what it is given, or says where the source ends', async () => {
    const source = new TestSource(Buffer.from('abcdef'));
    const into = new Uint8Array(4);
    await readWhole(source, 2, into);
    expect(Buffer.from(into).toString()).toBe('cdef');
    await expect(readWhole(source, 3, into)).rejects.toMatchObject({
      code: 'SOURCE_CHANGED',
      message: 'file.bin ends at byte 6, it had 6 bytes when it was opened',
    });
  });
});

interface RecordOptions {
  readonly chunkSize?: number;
  readonly pace?: Pace;
  readonly signal?: AbortSignal;
  beforeRead?(this: { readonly source: TestSource }, offset: number): void;
}

function record(bytes: Uint8Array, options: RecordOptions = {}) {
  const { chunkSize = CHUNK_SIZE, pace = freely, signal = never } = options;
  const sourceOptions: TestSourceOptions = {
    beforeRead: (offset) => options.beforeRead?.call({ source }, offset),
  };
  const source = new TestSource(bytes, sourceOptions);
  const geometry = new Geometry(bytes.length, chunkSize);
  const chain = new Chain(geometry.count);
  return { source, chain, done: recordChain(source, geometry, chain, pace, signal) };
}
