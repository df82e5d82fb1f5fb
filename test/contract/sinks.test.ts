import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { describe, expect, test } from '@jest/globals';
import { openFileSink } from '#dist/core/sink/file-sink.js';
import { NullSink } from '#dist/core/sink/null-sink.js';
import type { Sink } from '#dist/core/sink/sink.js';
import { StdoutSink } from '#dist/core/sink/stdout-sink.js';
import { runContract } from '#dist/testing/run-contract.js';
import { type MakeSink, sinkContract } from '#dist/testing/sink-contract.js';
import { makeTempFolder } from '../support/temp-folder.js';

const file: MakeSink = async (size) => {
  const folder = await makeTempFolder();
  const path = join(folder.path, 'file.bin');
  return {
    sink: await openFileSink(path, { size, force: false }),
    published: async () => (existsSync(path) ? readFileSync(path) : undefined),
    dispose: () => folder.remove(),
  };
};

const stdout: MakeSink = async () => {
  const received: Buffer[] = [];
  const output = new PassThrough().on('data', (piece) => received.push(Buffer.from(piece)));
  return { sink: new StdoutSink(output), published: async () => Buffer.concat(received), immediate: true };
};

const makers: Readonly<Record<string, MakeSink>> = {
  file,
  'standard output': stdout,
  null: async () => ({ sink: new NullSink() }),
};

describe.each(Object.entries(makers))('the sink %s', (_, make) => {
  for (const { title, run } of sinkContract(make)) test(title, run);
});

describe('the sink contract finds a sink that', () => {
  /** Keeps everything in memory, as it should, but for `changes`. */
  function flawed(changes: (kept: Uint8Array[]) => Partial<Sink>): MakeSink {
    return async () => {
      const kept: Uint8Array[] = [];
      let done = false;
      const sink: Sink = {
        location: 'memory',
        write: async (spans) => void kept.push(...spans.map((span) => new Uint8Array(span))),
        commit: async () => {
          done = true;
        },
        discard: async () => {},
        ...changes(kept),
      };
      return { sink, published: async () => (done || 'early' in sink ? Buffer.concat(kept) : undefined) };
    };
  }

  test.each<[string, (kept: Uint8Array[]) => Partial<Sink>, RegExp]>([
    [
      'keeps the spans themselves',
      (kept) => ({ write: async (spans) => void kept.push(...spans) }),
      /belong to the caller/,
    ],
    [
      'takes the first span only',
      (kept) => ({ write: async ([span]) => void kept.push(new Uint8Array(span as Uint8Array)) }),
      /many spans/,
    ],
    ['publishes early', () => ({ early: true }) as Partial<Sink>, /before commit/],
    ['forgets on discard', (kept) => ({ discard: async () => void kept.splice(0) }), /takes nothing back/],
    ['cannot be discarded twice', () => ({ discard: once() }), /discard may come twice/],
    ['says nothing of its place', () => ({ location: '' }), /where the file will be/],
  ])('%s', async (_, changes, broken) => {
    const results = await runContract(sinkContract(flawed(changes)));
    const titles = results.filter(({ outcome }) => outcome === 'broken').map(({ title }) => title);
    expect(titles.join('\n')).toMatch(broken);
  });

  test('nothing at all', async () => {
    const results = await runContract(sinkContract(flawed(() => ({}))));
    expect(results.filter(({ outcome }) => outcome !== 'kept')).toEqual([]);
  });

  function once(): () => Promise<void> {
    let called = false;
    return async () => {
      if (called) throw new Error('again');
      called = true;
    };
  }
});
