import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { content } from '../support/content.js';
import { ONE_THREAD, strace, untilReceived } from '../support/kill-trials.js';
import { runCli, startServe } from '../support/run-cli.js';
import { makeTempFolder } from '../support/temp-folder.js';

const linuxTest = process.platform === 'linux' ? test : test.skip;
let folder: Awaited<ReturnType<typeof makeTempFolder>>;
let source: string;

beforeAll(async () => {
  folder = await makeTempFolder();
  source = join(folder.path, 'file.bin');
  await writeFile(source, content('random', 4 * 2 ** 20));
});
afterAll(() => folder.remove());

linuxTest(
  'a disk that fails under the served file is told to the client with path and error, and the server lives (B88)',
  async () => {
    const options = { under: strace('pread64,preadv', 'error=EIO:when=3+', source), env: ONE_THREAD };
    const { cli, port } = await startServe([source, '--source', 'file', '--chunk', '64'], options);
    const get = ['get', `127.0.0.1:${port}`, '-o', join(folder.path, 'out')];
    const first = await runCli(get);
    expect(first.exitCode).toBe(3);
    expect(first.stderr).toMatch(/SOURCE_UNREADABLE/);
    expect(first.stderr).toMatch(/file\.bin/);
    expect(first.stderr).toMatch(/EIO/);
    const second = await runCli(get);
    expect(second.exitCode).toBe(3);
    cli.kill('SIGINT');
    const { exitCode, stderr } = await cli.finished;
    expect(exitCode).toBe(0);
    expect(stderr).not.toMatch(/ {4}at |node:internal/);
  },
);

test('a second Ctrl+C while writes of mapped pages are pending ends in order, every time (B86)', async () => {
  for (let round = 0; round < 4; round++) {
    const { cli, port } = await startServe([source, '--limit-rate', '3M']);
    const gets = [1, 2, 3].map((n) =>
      runCli([
        'get',
        '-q',
        `127.0.0.1:${port}`,
        '-o',
        join(folder.path, `out-${round}-${n}`),
        '--retry-for',
        '0',
      ]),
    );
    await untilReceived(cli, join(folder.path, `out-${round}-1`), 1);
    cli.kill('SIGINT');
    await cli.event('draining');
    cli.kill('SIGINT');
    const { exitCode, signal } = await cli.finished;
    expect({ exitCode, signal }).toEqual({ exitCode: 130, signal: null });
    for (const { exitCode: client } of await Promise.all(gets)) expect([0, 4]).toContain(client);
  }
});
