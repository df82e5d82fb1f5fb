import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeEach } from '@jest/globals';
import { CliProcess, type CliResult } from './cli-process.js';

const BINARY = fileURLToPath(new URL('../../bin/run.js', import.meta.url));

/** How {@link startCli} runs the binary. */
export interface CliOptions {
  readonly cwd?: string;
  /** Added to a clean environment; undefined removes a variable. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** What the process reads on standard input; nothing by default. */
  readonly input?: Uint8Array;
  /** After `input`, standard input stays open: its end does not come. */
  readonly keepInputOpen?: boolean;
  /** A command to run it under (`['prlimit', '--nofile=80']`); signals go to the whole group. */
  readonly under?: readonly string[];
  /** The script to run; `bin/run.js` by default. */
  readonly script?: string;
}

const home = mkdtempSync(join(tmpdir(), 'wirebound-home-'));
const running = { file: new Set<CliProcess>(), test: new Set<CliProcess>() };
let scope: keyof typeof running = 'file';

async function endAll(processes: Set<CliProcess>): Promise<void> {
  for (const cli of processes) cli.kill('SIGKILL');
  await Promise.allSettled([...processes].map((cli) => cli.finished));
  processes.clear();
}

beforeEach(() => {
  scope = 'test';
});
afterEach(async () => {
  scope = 'file';
  await endAll(running.test);
});
afterAll(async () => {
  await endAll(running.file);
  rmSync(home, { recursive: true, force: true });
});

/** The environment of a user who has nothing set: no caches of ours, no CI, nothing that Jest left behind. */
function cleanEnvironment(): NodeJS.ProcessEnv {
  const env = { ...process.env };
  for (const name of [
    'NODE_ENV',
    'NODE_OPTIONS',
    'JEST_WORKER_ID',
    'FORCE_COLOR',
    'NO_COLOR',
    'CI',
    'DEBUG',
  ]) {
    delete env[name];
  }
  return { ...env, HOME: home, XDG_CACHE_HOME: home, XDG_CONFIG_HOME: home, XDG_DATA_HOME: home };
}

/**
 * Starts the real binary. A process started inside a test is killed after that test, one from `beforeAll`
 * after the file. Its caches are in a folder of this test file, shared by all its runs.
 */
export function startCli(args: readonly string[], options: CliOptions = {}): CliProcess {
  const [command = process.execPath, ...rest] = [
    ...(options.under ?? []),
    process.execPath,
    options.script ?? BINARY,
    ...args,
  ];
  const env = { ...cleanEnvironment(), ...options.env };
  const { cwd, input, keepInputOpen } = options;
  const cli = new CliProcess(command, rest, { cwd, input, keepInputOpen, env });
  running[scope].add(cli);
  return cli;
}

/** Runs the real binary to its end. */
export function runCli(args: readonly string[], options: CliOptions = {}): Promise<CliResult> {
  return startCli(args, options).finished;
}

/** Starts `serve --json` on a free port of the loopback interface; resolves once clients can connect. */
export async function startServe(
  args: readonly string[],
  options: CliOptions = {},
): Promise<{ readonly cli: CliProcess; readonly port: number }> {
  const cli = startCli(['serve', '--json', '--host', '127.0.0.1', '--port', '0', ...args], options);
  const { port } = await cli.event('listening');
  return { cli, port: Number(port) };
}
