import { basename, dirname } from 'node:path';
import { type Command, startCommand } from '../support/command.js';
import { freePort } from '../support/free-port.js';
import type { ServedFile } from '../support/served-file.js';
import { waitForPort } from '../support/wait-for.js';

/** `python3 -m http.server` in one file's folder, on a free loopback port. */
export async function startPythonServer(file: ServedFile): Promise<{ command: Command; url: string }> {
  const port = await freePort();
  const argv = ['python3', '-m', 'http.server', `${port}`, '--bind', '127.0.0.1'];
  const command = startCommand(argv, { cwd: dirname(file.path) });
  await Promise.race([waitForPort(port), command.finished]);
  return { command, url: `http://127.0.0.1:${port}/${basename(file.path)}` };
}
