import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { content } from '../support/content.js';
import { writeContentFile } from '../support/random-file.js';
import { runCli, startServe } from '../support/run-cli.js';
import { makeTempFolder } from '../support/temp-folder.js';

const SIZE = 512 * 2 ** 20;

/** Drops a file's pages from the page cache, without privileges. */
function dropFromMemory(file: string): void {
  execFileSync('sync', [file]);
  execFileSync('dd', [`of=${file}`, 'oflag=nocache', 'conv=notrunc,fdatasync', 'count=0', 'status=none']);
}

/** Whether reading from where temporary files are counts as block input of a process, and a cache can be dropped. */
function countsReads(): boolean {
  const folder = mkdtempSync(join(tmpdir(), 'wirebound-probe-'));
  try {
    const file = join(folder, 'probe');
    writeFileSync(file, content('random', 8 * 2 ** 20));
    dropFromMemory(file);
    const code = `
      const before = process.resourceUsage().fsRead;
      fs.readFileSync(${JSON.stringify(file)});
      console.log((process.resourceUsage().fsRead - before) * 512);`;
    return Number(execFileSync(process.execPath, ['-e', code])) >= 8 * 2 ** 20;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const counted = countsReads();
const reason = counted ? '' : ' (skipped: reads of the temporary folder are not counted as block input here)';

describe(`a file that is not in memory${reason}`, () => {
  let folder: Awaited<ReturnType<typeof makeTempFolder>>;
  let file: string;
  beforeAll(async () => {
    folder = await makeTempFolder();
    file = join(folder.path, 'cold.bin');
    await writeContentFile(file, 'random', SIZE);
  });
  afterAll(() => folder.remove());

  (counted ? test : test.skip).each([
    ['mmap', 'none', 'first'],
    ['mmap', 'none', 'known'],
    ['mmap', 'lz4', 'first'],
    ['file', 'none', 'first'],
    ['file', 'none', 'known'],
  ])('is read once for eight clients over %s and %s, its digest %s', async (source, codec, digest) => {
    const flags = ['--source', source, '--codec', codec, ...(digest === 'first' ? ['--rehash'] : [])];
    dropFromMemory(file);
    const { cli, port } = await startServe([file, ...flags, '--until', '8']);
    const gets = Array.from({ length: 8 }, () =>
      runCli(['get', `127.0.0.1:${port}`, '-o', '/dev/null', '-q']),
    );
    for (const { exitCode, stderr } of await Promise.all(gets)) {
      expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    }
    expect((await cli.finished).exitCode).toBe(0);
    if (digest === 'known') expect(await cli.event('digest')).toMatchObject({ cached: true });
    const { bytesFromStorage, bytesSent } = await cli.event('summary');
    console.info(
      `${source}, ${codec}, ${digest}: ${((100 * Number(bytesFromStorage)) / SIZE).toFixed(2)} % read`,
    );
    expect(bytesSent).toBe(8 * SIZE);
    expect(bytesFromStorage).toBeGreaterThan(0.95 * SIZE);
    expect(bytesFromStorage).toBeLessThanOrEqual(1.02 * SIZE);
  });
});
