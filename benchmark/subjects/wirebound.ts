import { fileURLToPath } from 'node:url';
import type { GetResult } from '#dist/core/client/get-event.js';
import type { ServeEvent, ServeSummary } from '#dist/core/server/serve-event.js';
import { type Command, type CommandOptions, startCommand } from '../support/command.js';
import { ROOT } from '../support/root.js';
import type { ServedFile } from '../support/served-file.js';
import { waitFor } from '../support/wait-for.js';
import type { Workspace } from '../support/workspace.js';

const BINARY = fileURLToPath(new URL('bin/run.js', ROOT));

/** How {@link startServer} runs `wirebound serve`. */
export interface ServerOptions extends Pick<CommandOptions, 'under' | 'env'> {
  /** `none` unless given. */
  readonly codec?: string;
  /** KiB; 256 unless given. */
  readonly chunk?: number;
  /** Hashes the file although its chain is cached. */
  readonly rehash?: boolean;
  /** The loopback interface unless given. */
  readonly host?: string;
  readonly port?: number;
}

/** A running `wirebound serve`. */
export interface Server {
  readonly command: Command;
  readonly port: number;
  /** Resolves to the first event of that name. */
  event<Name extends ServeEvent['event']>(name: Name): Promise<Extract<ServeEvent, { event: Name }>>;
  /** Lets transfers finish; resolves to the summary. */
  stop(): Promise<ServeSummary>;
}

/** A user of this workspace: caches of their own. */
function environment(workspace: Workspace): Readonly<Record<string, string>> {
  return { XDG_CACHE_HOME: workspace.disk, NODE_NO_WARNINGS: '1' };
}

/** Starts a server as users do, on a free port; resolves when clients can connect. */
export async function startServer(
  workspace: Workspace,
  file: ServedFile,
  options: ServerOptions = {},
): Promise<Server> {
  const { codec = 'none', chunk = 256, rehash = false, host = '127.0.0.1', port = 0 } = options;
  const events: ServeEvent[] = [];
  let rest = '';
  const argv = [process.execPath, BINARY, 'serve', file.path, '--json', '--codec', codec];
  argv.push('--chunk', `${chunk}`, '--host', host, '--port', `${port}`, ...(rehash ? ['--rehash'] : []));
  const command = startCommand(argv, {
    under: options.under ?? [],
    env: { ...environment(workspace), ...options.env },
    onOutput(text) {
      const lines = (rest + text).split('\n');
      rest = lines.pop() ?? '';
      events.push(...lines.map((line) => JSON.parse(line) as ServeEvent));
    },
  });
  let ended = false;
  const end = () => {
    ended = true;
  };
  command.finished.then(end, end);
  const event = async <Name extends ServeEvent['event']>(name: Name) => {
    const isIt = (one: ServeEvent): one is Extract<ServeEvent, { event: Name }> => one.event === name;
    return waitFor(
      `the server's event '${name}'`,
      async () => events.find(isIt) ?? (ended ? await command.finished.then(() => undefined) : undefined),
      600_000,
    );
  };
  const listening = await event('listening');
  const stop = async () => {
    await command.end();
    return event('summary');
  };
  return { command, port: listening.port, event, stop };
}

/** Serves a file once, so that its chain is in the cache of the workspace. */
export async function cacheChain(workspace: Workspace, file: ServedFile, chunk = 256): Promise<void> {
  const server = await startServer(workspace, file, { chunk });
  await server.event('digest');
  await server.stop();
}

/** How {@link startGet} runs `wirebound get`. */
export interface GetOptions extends Pick<CommandOptions, 'under' | 'env'> {
  /** `/dev/null` unless given. */
  readonly output?: string;
  /** The loopback interface unless given. */
  readonly host?: string;
}

/** Starts a client as users do. */
export function startGet(workspace: Workspace, port: number, options: GetOptions = {}): Command {
  const { output = '/dev/null', host = '127.0.0.1' } = options;
  const argv = [process.execPath, BINARY, 'get', `${host}:${port}`, '-o', output, '--json'];
  return startCommand(argv, {
    under: options.under ?? [],
    env: { ...environment(workspace), ...options.env },
  });
}

/** What a client that has ended reported; throws unless it got `file` and its digest is right. */
export function checkedResult(stdout: string, file: ServedFile): GetResult {
  const line = stdout.trim().split('\n').at(-1) ?? '';
  const result = JSON.parse(line) as GetResult;
  if (result.result !== 'PASS' || result.sha256 !== file.sha256) throw new Error(`not verified: ${line}`);
  return result;
}

/** Gets a file once and checks it; seconds of the whole process. */
export async function timeGet(
  workspace: Workspace,
  port: number,
  file: ServedFile,
  options: GetOptions = {},
): Promise<number> {
  const { seconds, stdout } = await startGet(workspace, port, options).finished;
  checkedResult(stdout, file);
  return seconds;
}
