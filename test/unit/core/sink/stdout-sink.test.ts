import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PassThrough, Writable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { expect, test } from '@jest/globals';
import { NullSink } from '#dist/core/sink/null-sink.js';
import { StdoutSink } from '#dist/core/sink/stdout-sink.js';
import { content } from '../../../support/content.js';
import { runModule } from '../../../support/run-module.js';
import { withTempFolder } from '../../../support/temp-folder.js';

test('everything goes out in order and the stream stays open', async () => {
  const bytes = content('random', 300_000);
  const output = new PassThrough();
  const received = buffer(output);
  const sink = new StdoutSink(output);
  await sink.write([bytes.subarray(0, 1), bytes.subarray(1, 100_000)]);
  await sink.write([bytes.subarray(100_000)]);
  await sink.commit();
  await sink.discard();
  expect(output.writableEnded).toBe(false);
  output.end();
  expect(bytes.equals(await received)).toBe(true);
});

test('a write is over only when the stream is done with the bytes', async () => {
  const done: (() => void)[] = [];
  const output = new Writable({ write: (_chunk, _encoding, callback) => void done.push(callback) });
  const steps: string[] = [];
  const writing = new StdoutSink(output).write([Buffer.from('a')]).then(() => steps.push('written'));
  steps.push('taken');
  done[0]?.();
  await writing;
  expect(steps).toEqual(['taken', 'written']);
});

test('a reader that goes away is told in one line, and a later write again', async () => {
  const code = `
    import { StdoutSink } from '#dist/core/sink/stdout-sink.js';
    const sink = new StdoutSink(process.stdout);
    for (let i = 0; i < 2; i++) {
      try { for (;;) await sink.write([Buffer.alloc(65536)]); }
      catch (error) { console.error(error.code, error.message); }
    }
    await sink.discard();
  `;
  const shell = ['sh', '-c', '"$@" | head -c 100 > /dev/null', 'sh'];
  const { stderr } = await runModule(code, [], shell).finished;
  expect(stderr).toBe('SINK_FAILED standard output was closed\n'.repeat(2));
});

test('a file behind standard output takes every byte, after what it held', async () => {
  await withTempFolder(async (folder) => {
    const code = `
      import { StdoutSink } from '#dist/core/sink/stdout-sink.js';
      const sink = new StdoutSink(process.stdout);
      await sink.write([Buffer.from('one '), Buffer.from('two ')]);
      await sink.write([Buffer.from('three')]);
    `;
    const path = join(folder, 'x');
    await runModule(code, [], ['sh', '-c', `echo zero > ${path}; exec "$@" >> ${path}`, 'sh']).finished;
    expect(await readFile(path, 'utf8')).toBe('zero\none two three');
  });
});

test('the null sink takes anything', async () => {
  const sink = new NullSink();
  await sink.write();
  await sink.commit();
  await sink.discard();
  expect(sink.location).toBe('/dev/null');
});
