import { createHash } from 'node:crypto';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { content } from '../support/content.js';
import { freePort } from '../support/free-port.js';
import { strace } from '../support/kill-trials.js';
import { runCli, startCli, startServe } from '../support/run-cli.js';
import { makeTempFolder } from '../support/temp-folder.js';

const BYTES = content('random', 2 * 1024 * 1024);
const linuxTest = process.platform === 'linux' ? test : test.skip;

let folder: Awaited<ReturnType<typeof makeTempFolder>>;
let file: string;
let port: number;
beforeAll(async () => {
  folder = await makeTempFolder();
  file = join(folder.path, 'served.bin');
  await writeFile(file, BYTES);
  port = (await startServe([file])).port;
});
afterAll(() => folder.remove());

/** Runs the binary in a shell; `line` has the command as `wb`, and is the last word on its exit code. */
function inShell(line: string) {
  const script = `node="$0"; run="$1"; wb() { "$node" "$run" "$@"; }; ${line}`;
  return runCli([], { under: ['bash', '-c', script], cwd: folder.path });
}

describe('a get whose messages nobody reads', () => {
  test.each([
    '2>&1 | head -1',
    '2>&1 | true',
    '--json | true',
    '--json | head -1',
    '>&-',
    '2>&-',
    '<&-',
    '>&- 2>&-',
    '2>/dev/full',
    '--json >/dev/full',
  ])('still gets and verifies the file: %s', async (redirection) => {
    const output = join(folder.path, 'out.bin');
    const { exitCode, stderr } = await inShell(
      `wb get 127.0.0.1:${port} -o ${output} ${redirection}; exit "\${PIPESTATUS[0]}"`,
    );
    expect(exitCode).toBe(0);
    expect(stderr).not.toMatch(/^ {4}at |node:|EPIPE|ENOSPC/m);
    expect(BYTES.equals(await readFile(output))).toBe(true);
    await rm(output);
  });
});

describe('a get whose messages go to a file that cannot be flushed', () => {
  linuxTest('ends all the same, and says nothing about it', async () => {
    const [output, log] = [join(folder.path, 'flushed.bin'), join(folder.path, 'log')];
    const faulty = strace('fsync', 'error=EIO', log).map((word) => `'${word}'`);
    const { exitCode } = await inShell(
      `: >${log}; ${faulty.join(' ')} "$node" "$run" get 127.0.0.1:${port} -o ${output} >${log} 2>&1`,
    );
    expect(exitCode).toBe(0);
    expect(BYTES.equals(await readFile(output))).toBe(true);
    expect(await readFile(log, 'utf8')).toMatch(/^PASS.*flushed\.bin\n$/ms);
  });
});

describe('a server whose messages nobody reads', () => {
  test.each(['2>&1 | true', '--json | true', '>&- 2>&-', '2>/dev/full'])(
    'still serves: %s',
    async (redirection) => {
      const own = await freePort();
      const line = `wb serve ${file} --host 127.0.0.1 --port ${own} --until 1 ${redirection}; exit "\${PIPESTATUS[0]}"`;
      const script = `node="$0"; run="$1"; wb() { "$node" "$run" "$@"; }; ${line}`;
      const serve = startCli([], { under: ['bash', '-c', script] });
      const get = await runCli(['get', `127.0.0.1:${own}`, '-o', '/dev/null', '--json', '--wait', '30']);
      const sha256 = createHash('sha256').update(BYTES).digest('hex');
      expect(get.stdout.toString()).toContain(`"result":"PASS","sha256":"${sha256}"`);
      const { exitCode, stderr } = await serve.finished;
      expect(exitCode).toBe(0);
      expect(stderr).not.toMatch(/^ {4}at |node:/m);
    },
  );
});

describe('a listing', () => {
  test.each(['codecs', 'sources', 'codecs --json', 'sources -q'])(
    '%s that cannot be written says so by its exit code alone',
    async (command) => {
      const { exitCode, stderr } = await inShell(`wb ${command} >/dev/full`);
      expect(exitCode).toBe(1);
      expect(stderr).not.toMatch(/^ {4}at |node:/m);
    },
  );

  test.each(['codecs | true', 'codecs >&-'])('%s ends quietly', async (command) => {
    const { stderr } = await inShell(`wb ${command}`);
    expect(stderr).toBe('');
  });
});
