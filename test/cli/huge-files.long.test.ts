import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { freePort } from '../support/free-port.js';
import { anonymousMemory } from '../support/process-memory.js';
import { writeSparseFile } from '../support/random-file.js';
import { RawClient } from '../support/raw-client.js';
import { runCli, startCli, startServe } from '../support/run-cli.js';
import { makeTempFolder } from '../support/temp-folder.js';

const MIB = 2 ** 20;
const GIB = 2 ** 30;
const MINUTES = 60_000;

let folder: Awaited<ReturnType<typeof makeTempFolder>>;
beforeAll(async () => {
  folder = await makeTempFolder();
});
afterAll(() => folder.remove());

describe('a file of 6 GiB with a marker at every GiB', () => {
  let file: string;
  beforeAll(async () => {
    file = join(folder.path, 'six.bin');
    await writeSparseFile(file, 6 * GIB);
  });

  test.each([
    ['mmap', 'none'],
    ['mmap', 'lz4'],
    ['file', 'none'],
    ['file', 'lz4'],
  ])(
    'is the same for cmp over %s and %s, and the server stays small',
    async (source, codec) => {
      const { cli, port } = await startServe([file, '--source', source, '--codec', codec, '--until', '1']);
      if (source === 'mmap') expect((await cli.event('listening')).source).toContain('koffi');
      let most = 0;
      const sampling = setInterval(() => {
        if (cli.child.exitCode !== null) return;
        const now = anonymousMemory(cli.pid);
        if (now > most) most = now; // NaN when it has just ended
      }, 200);
      // Nothing to wait for between two looks at the memory.
      sampling.unref();
      const line = `"$0" "$1" get 127.0.0.1:${port} -o - -q | cmp - ${file}; echo "$? \${PIPESTATUS[*]}"`;
      const { stdout, stderr } = await runCli([], {
        under: ['bash', '-c', line.replace('$? ', '')],
      });
      clearInterval(sampling);
      expect({ statuses: stdout.toString().trim(), stderr }).toEqual({ statuses: '0 0', stderr: '' });
      expect((await cli.finished).exitCode).toBe(0);
      expect(await cli.event('summary')).toMatchObject({ verified: 1, failed: 0, bytesSent: 6 * GIB });
      console.info(
        `6 GiB over ${source}, ${codec}: at most ${Math.round(most / MIB)} MiB of the server's own memory`,
      );
      expect(most).toBeGreaterThan(0);
      expect(most).toBeLessThan(200 * MIB);
    },
    10 * MINUTES,
  );
});

describe('a file of 20 GiB that is not in memory', () => {
  test(
    'has its first chunk at a client at once, long before its digest is known; the second server knows it from the start',
    async () => {
      const file = join(folder.path, 'twenty.bin');
      await writeSparseFile(file, 20 * GIB);
      dropFromMemory(file);
      const port = await freePort();
      const startedAt = performance.now();
      const args = ['serve', file, '--json', '--host', '127.0.0.1', '--port', String(port)];
      const first = startCli(args);
      await first.event('listening');
      const { client } = await RawClient.greet(port);
      client.get(0, 4);
      await client.next('chunk');
      const seconds = (performance.now() - startedAt) / 1000;
      console.info(`first chunk of 20 GiB ${seconds.toFixed(2)} s after the start of the server`);
      expect(first.events.some(({ event }) => event === 'digest')).toBe(false);
      expect(seconds).toBeLessThan(5);
      // A client that stays would hold the pass back: the file does not fit in memory.
      client.reset();
      const { sha256 } = await first.event('digest', () => true, 10 * MINUTES);
      first.kill('SIGINT');
      await first.finished;
      const second = startCli(args);
      expect(await second.event('digest')).toMatchObject({ sha256, cached: true });
    },
    12 * MINUTES,
  );
});

test('a pass that takes long is told to people now and then', async () => {
  const big = join(folder.path, 'hashed.bin');
  await writeSparseFile(big, 200 * GIB);
  const serve = startCli(['serve', big, '--host', '127.0.0.1', '--port', '0']);
  await serve.line(/^hashing: \d+\.\d % {2}\S+ [KMG]iB\/s {2}ETA .+$/);
  serve.kill('SIGINT');
  expect((await serve.finished).exitCode).toBe(0);
  expect(serve.stderr).not.toContain('hashing: 0.0 %\n');
});

/** Drops a file's pages from the page cache, without privileges. */
function dropFromMemory(file: string): void {
  execFileSync('sync', [file]);
  execFileSync('dd', [`if=${file}`, 'iflag=nocache', 'count=0', 'status=none']);
}
