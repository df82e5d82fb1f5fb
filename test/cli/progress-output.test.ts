import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { content } from '../support/content.js';
import { type CliOptions, runCli, startCli, startServe } from '../support/run-cli.js';
import { makeTempFolder } from '../support/temp-folder.js';

const MIB = 1024 * 1024;
const BYTES = content('random', 2 * MIB);

let folder: Awaited<ReturnType<typeof makeTempFolder>>;
let file: string;
let port: number;
beforeAll(async () => {
  folder = await makeTempFolder();
  file = join(folder.path, 'served.bin');
  await writeFile(file, BYTES);
  port = (await startServe([file, '--limit-rate', '2M'])).port;
});
afterAll(() => folder.remove());

/** Runs `wirebound get` on a terminal of its own; what comes out is all that it wrote there. */
async function getOnTerminal(options: { env?: CliOptions['env']; columns?: number; flags?: string } = {}) {
  const { env, columns = 80, flags = '' } = options;
  const line = `stty cols ${columns}; '$0' '$1' get 127.0.0.1:${port} -o /dev/null ${flags}`;
  const { exitCode, stdout } = await runCli([], {
    env: { TERM: 'xterm', ...env },
    under: ['sh', '-c', `script -qec "${line}" /dev/null </dev/null`],
  });
  expect(exitCode).toBe(0);
  return stdout.toString();
}

/** The text that was drawn, one line for each time that the cursor went to the beginning of one. */
function drawn(text: string): readonly string[] {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what moves the cursor
  const lines = text.replace(/\x1b\[1G/g, '\n').replace(/\x1b\[[0-9;?]*[A-Za-z]|\x1b[78]/g, '');
  return lines.split(/[\r\n]+/);
}

describe('a get on a terminal', () => {
  test('shows a bar with percent, rate and ETA, and gives the cursor back', async () => {
    const text = await getOnTerminal();
    expect(text).toMatch(/receiving \[#+-+\] {2}\d+\.\d % {2}.+\/s {2}ETA \d+ s/);
    expect(drawn(text)).toContain('PASS     served.bin');
    const [hidden, shown] = [text.lastIndexOf('\x1b[?25l'), text.lastIndexOf('\x1b[?25h')];
    expect(shown).toBeGreaterThanOrEqual(hidden);
  });

  test.each([20, 40])('keeps to one line of %d columns', async (columns) => {
    const bars = drawn(await getOnTerminal({ columns })).filter((line) =>
      /^(receiving|flushing) /.test(line),
    );
    expect(bars.length).toBeGreaterThan(0);
    expect(Math.max(...bars.map((line) => line.length))).toBeLessThan(columns);
  });

  test.each([{ NO_COLOR: '1' }, { TERM: 'dumb' }, { CI: 'true' }])(
    'moves no cursor and has no colour under %j',
    async (env) => {
      const text = await getOnTerminal({ env });
      expect(text).not.toContain('\x1b');
      expect(text.replaceAll('\r\n', '\n')).not.toContain('\r');
      expect(text).toMatch(/^PASS {5}served\.bin\r$/m);
    },
  );

  test('says nothing with --quiet', async () => {
    expect(await getOnTerminal({ flags: '-q' })).toBe('');
  });
});

describe('a get whose output is a file or a pipe', () => {
  test('has few plain lines, without an escape sequence, and a result at the end', async () => {
    const { stdout, stderr } = await runCli(['get', `127.0.0.1:${port}`, '-o', '/dev/null']);
    expect(stdout.toString()).toBe('');
    // biome-ignore lint/suspicious/noControlCharactersInRegex: none of them may be in a log
    expect(stderr).not.toMatch(/[\x1b\r]/);
    expect(stderr.split('\n').length).toBeLessThan(12);
    expect(stderr).toMatch(/^PASS/m);
  });
});

describe('a server on a terminal', () => {
  test('shows a live line for each client below the lines that stay', async () => {
    const line = `stty cols 80; '$0' '$1' serve ${file} --host 127.0.0.1 --port 0 --until 1 --limit-rate 512k`;
    const serve = startCli([], {
      env: { TERM: 'xterm' },
      under: ['sh', '-c', `script -qec "${line}" /dev/null </dev/null`],
    });
    const own = Number(/port (\d+)/.exec(await serve.line(/Anyone who reaches port/))?.[1]);
    expect((await runCli(['get', `127.0.0.1:${own}`, '-o', '/dev/null', '-q'])).exitCode).toBe(0);
    const { exitCode, stdout } = await serve.finished;
    expect(exitCode).toBe(0);
    const text = stdout.toString();
    expect(text).toMatch(/ {2}client 1 {2}127\.0\.0\.1:\d+ {2}\d+\.\d % {2}.+\/s.*ETA \d+ s/);
    expect(text).toContain('\x1b[1A');
    expect(text).toMatch(/client 1 {2}127\.0\.0\.1:\d+ {2}verified/);
    expect(text).toMatch(/^clients {2}1 verified, 0 failed/m);
  });
});
