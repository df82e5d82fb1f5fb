import { writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { type Command, startCommand } from '../support/command.js';
import { freePort } from '../support/free-port.js';
import type { ServedFile } from '../support/served-file.js';
import { waitForPort } from '../support/wait-for.js';
import type { Workspace } from '../support/workspace.js';

/** A running rsync daemon. */
export interface RsyncDaemon {
  readonly command: Command;
  /** What a client names to get the file. */
  readonly url: string;
}

/** An rsync daemon that serves one file's folder, on a free loopback port. */
export async function startRsync(workspace: Workspace, file: ServedFile): Promise<RsyncDaemon> {
  const port = await freePort();
  const config = join(workspace.disk, `rsyncd-${port}.conf`);
  const user = process.getuid?.() === 0 ? 'uid = root\ngid = root\n' : '';
  await writeFile(config, `${user}use chroot = no\n[files]\npath = ${dirname(file.path)}\nread only = yes\n`);
  const argv = ['rsync', '--daemon', '--no-detach', `--config=${config}`];
  const command = startCommand([...argv, '--address=127.0.0.1', `--port=${port}`]);
  await Promise.race([waitForPort(port), command.finished]);
  return { command, url: `rsync://127.0.0.1:${port}/files/${basename(file.path)}` };
}
