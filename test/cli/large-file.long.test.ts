import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { writeSparseFile } from '../support/random-file.js';
import { runCli, startServe } from '../support/run-cli.js';
import { withTempFolder } from '../support/temp-folder.js';

const SIZE = 4.5 * 2 ** 30 + 11;

test.each([
  ['mmap', 'none', ['prlimit', '--as=3000000000']],
  ['file', 'lz4', []],
])(
  'a file beyond 4 GiB from %s with %s is what an independent tool says it is (B12 B58)',
  async (source, codec, under) => {
    await withTempFolder(async (folder) => {
      const path = join(folder, 'large.bin');
      await writeSparseFile(path, SIZE);
      const expected = execFileSync('sha256sum', [path], { encoding: 'utf8' }).slice(0, 64);
      // Less address space than the file is long: windows of the map have to come and go.
      const { cli, port } = await startServe([path, '--source', source, '--codec', codec], { under });
      const get = ['get', '--json', `127.0.0.1:${port}`, '-o', '/dev/null', '--expect', expected];
      const { exitCode, stdout } = await runCli(get);
      expect(stdout.toString()).toMatch(/"event":"result","result":"PASS"/);
      expect(exitCode).toBe(0);
      cli.kill('SIGINT');
      expect(await cli.finished).toMatchObject({ exitCode: 0 });
    });
  },
);
