import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { CliProcess } from '../../support/cli-process.js';
import { runCli, startCli } from '../../support/run-cli.js';
import { makeTempFolder } from '../../support/temp-folder.js';

/** Stands in for the CLI: echoes its input, tells its environment, and lives until it is told to go. */
const SCRIPT = `
  const [mode, ...args] = process.argv.slice(2);
  if (mode === 'echo') process.stdin.pipe(process.stdout), process.stderr.write(args.join() + '\\n'), (process.exitCode = 7);
  if (mode === 'env') console.log(JSON.stringify({ event: 'env', ...process.env }));
  if (mode === 'live') {
    process.on('SIGINT', () => { console.log(JSON.stringify({ event: 'bye', n: 2 })); process.exit(0); });
    setInterval(() => {}, 1000);
    process.stdout.write('{"event":"par');
    setImmediate(() => process.stdout.write('tial","n":1}\\nplain\\n'));
  }
`;

describe('the CLI fixture', () => {
  let folder: Awaited<ReturnType<typeof makeTempFolder>>;
  let script: string;
  let early: CliProcess;
  let left: CliProcess;

  beforeAll(async () => {
    folder = await makeTempFolder();
    script = join(folder.path, 'script.cjs');
    await writeFile(script, SCRIPT);
    early = startCli(['live'], { script });
  });
  afterAll(() => folder.remove());

  test('captures output, input and the exit code', async () => {
    const result = await runCli(['echo', 'a', 'b'], { script, input: Buffer.from('hello') });
    expect(result).toEqual({ exitCode: 7, signal: null, stdout: Buffer.from('hello'), stderr: 'a,b\n' });
  });

  test('gives the process an environment without traces of the test run', async () => {
    const cli = startCli(['env'], { script, env: { EXTRA: 'x' } });
    const env = await cli.event('env');
    expect(env).toMatchObject({ EXTRA: 'x', HOME: env.XDG_CACHE_HOME });
    expect(env).not.toHaveProperty('NODE_OPTIONS');
    expect(env).not.toHaveProperty('JEST_WORKER_ID');
    expect(env.HOME).not.toBe(process.env.HOME);
  });

  test('waits for lines and events, also ones that came in pieces or before', async () => {
    left = startCli(['live'], { script });
    expect(await left.event('partial')).toEqual({ event: 'partial', n: 1 });
    expect(await left.line(/^plain$/)).toBe('plain');
    left.kill('SIGINT');
    expect(await left.event('bye', ({ n }) => n === 2)).toBeDefined();
    expect(await left.finished).toMatchObject({ exitCode: 0, signal: null });
  });

  test('says what was missing, and what there was, when a process ends or a deadline passes', async () => {
    const ended = startCli(['echo', 'why'], { script });
    await expect(ended.line(/never/)).rejects.toThrow(/ended without a line like \/never\/[\s\S]*why/);
    left = startCli(['live'], { script });
    await expect(left.event('never', undefined, 50)).rejects.toThrow(
      /50 ms passed without the event 'never'/,
    );
  });

  test('has ended what an earlier test left running, but not what was started for all', async () => {
    expect(await left.finished).toMatchObject({ signal: 'SIGKILL' });
    expect(process.kill(early.pid, 0)).toBe(true);
  });

  test('can run it under another command', async () => {
    const cli = startCli(['live'], { script, under: ['env', 'WRAPPED=1'] });
    await cli.event('partial');
    cli.kill('SIGINT');
    expect((await cli.finished).exitCode).toBe(0);
  });
});
