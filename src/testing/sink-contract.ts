import assert from 'node:assert/strict';
import type { Sink } from '../core/sink/sink.js';
import { toShared } from './codec-samples.js';
import type { ContractCase } from './contract-case.js';
import { patternlessBytes } from './patternless-bytes.js';

/** A sink for a file of the size that was asked for, and a look at what it has published. */
export interface SinkUnderTest {
  readonly sink: Sink;
  /** What is there under its name now; undefined: nothing. A sink that keeps nothing leaves this out. */
  published?(): Promise<Uint8Array | undefined>;
  /** What was written can be seen before `commit` (a pipe cannot take it back). */
  readonly immediate?: boolean;
  /** Takes away what was set up. */
  dispose?(): Promise<void>;
}

/** Opens a sink for a file of `size` bytes. */
export type MakeSink = (size: number) => Promise<SinkUnderTest>;

const SIZE = 3 * 1024 * 1024 + 4321;

/**
 * What every sink must keep, whatever the test runner:
 *
 *     for (const { title, run } of sinkContract(make)) test(title, run);
 */
export function sinkContract(make: MakeSink): ContractCase[] {
  return [...writing(make), ...ending(make)];
}

function writing(make: MakeSink): ContractCase[] {
  return [
    sinkCase(
      'what was written is there after commit, byte for byte',
      make,
      SIZE,
      async (subject, content) => {
        for (let at = 0; at < SIZE; at += 1_000_003)
          await subject.sink.write([content.subarray(at, at + 1_000_003)], at);
        await subject.sink.commit();
        await assertPublished(subject, content);
      },
    ),
    sinkCase('many spans of one write follow each other', make, SIZE, async (subject, content) => {
      const length = 1024;
      const spans = Array.from({ length: Math.ceil(SIZE / length) }, (_, at) =>
        content.subarray(at * length, (at + 1) * length),
      );
      await subject.sink.write(spans, 0);
      await subject.sink.commit();
      await assertPublished(subject, content);
    }),
    sinkCase(
      'spans may be shared memory, and belong to the caller again after the write',
      make,
      SIZE,
      async (subject, content) => {
        const ring = toShared(new Uint8Array(256 * 1024));
        for (let at = 0; at < SIZE; at += ring.length) {
          const piece = content.subarray(at, at + ring.length);
          ring.set(piece);
          await subject.sink.write([ring.subarray(0, piece.length)], at);
          ring.fill(0xff);
        }
        await subject.sink.commit();
        await assertPublished(subject, content);
      },
    ),
    sinkCase('a file of one byte is written', make, 1, async (subject, content) => {
      await subject.sink.write([content], 0);
      await subject.sink.commit();
      await assertPublished(subject, content);
    }),
    sinkCase('a file without content is published too', make, 0, async (subject, content) => {
      await subject.sink.commit();
      await assertPublished(subject, content);
    }),
  ];
}

function ending(make: MakeSink): ContractCase[] {
  return [
    sinkCase('it says where the file will be, on one line', make, SIZE, async ({ sink }) => {
      assert.match(sink.location, /^[^\n]+$/);
    }),
    sinkCase('nothing is to be seen before commit', make, SIZE, async (subject, content) => {
      if (subject.immediate === true) return;
      await subject.sink.write([content], 0);
      assert.ok((await subject.published?.()) === undefined, 'the file is there already');
      await subject.sink.commit();
      await assertPublished(subject, content);
    }),
    sinkCase('nothing is to be seen after discard', make, SIZE, async (subject, content) => {
      await subject.sink.write([content.subarray(0, SIZE >> 1)], 0);
      await subject.sink.discard();
      if (subject.immediate === true) return;
      assert.ok((await subject.published?.()) === undefined, 'there is a file');
    }),
    sinkCase('discard may come twice, and before anything was written', make, SIZE, async ({ sink }) => {
      await sink.discard();
      await sink.discard();
    }),
    sinkCase('discard after commit takes nothing back', make, SIZE, async (subject, content) => {
      await subject.sink.write([content], 0);
      await subject.sink.commit();
      await subject.sink.discard();
      await assertPublished(subject, content);
    }),
  ];
}

function sinkCase(
  title: string,
  make: MakeSink,
  size: number,
  body: (subject: SinkUnderTest, content: Uint8Array) => Promise<void>,
): ContractCase {
  return {
    title,
    async run() {
      const subject = await make(size);
      try {
        await body(subject, patternlessBytes(size));
      } finally {
        await subject.sink.discard();
        await subject.dispose?.();
      }
    },
  };
}

async function assertPublished({ published }: SinkUnderTest, content: Uint8Array): Promise<void> {
  if (published === undefined) return;
  const found = await published();
  assert.ok(found !== undefined, 'there is no file');
  assert.equal(found.length, content.length, `there are ${found.length} bytes instead of ${content.length}`);
  assert.ok(Buffer.compare(found, content) === 0, 'the bytes differ');
}
