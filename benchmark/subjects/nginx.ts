import { mkdir, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { type Command, runCommand, startCommand } from '../support/command.js';
import { freePort } from '../support/free-port.js';
import { pathOf } from '../support/installed.js';
import type { ServedFile } from '../support/served-file.js';
import { waitForPort } from '../support/wait-for.js';
import type { Workspace } from '../support/workspace.js';

/** A running nginx that serves one file's folder. */
export interface Nginx {
  readonly command: Command;
  /** Of the file. */
  readonly url: string;
  stop(): Promise<void>;
}

/** nginx as Debian sets it up (a worker per processor, sendfile), without an access log, on a free loopback port. */
export async function startNginx(workspace: Workspace, file: ServedFile): Promise<Nginx> {
  const port = await freePort();
  const folder = join(workspace.disk, `nginx-${port}`);
  await mkdir(folder);
  const user = process.getuid?.() === 0 ? 'user root;' : '';
  const temp = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((name) => `${name}_temp_path ${folder}/${name};`)
    .join('\n  ');
  const config = `${user}
daemon off;
worker_processes auto;
pid ${folder}/nginx.pid;
error_log ${folder}/error.log;
events { worker_connections 768; }
http {
  ${temp}
  access_log off;
  sendfile on;
  tcp_nopush on;
  server { listen 127.0.0.1:${port}; root ${dirname(file.path)}; }
}
`;
  await writeFile(join(folder, 'nginx.conf'), config);
  const nginx = pathOf('nginx') ?? 'nginx';
  const argv = [nginx, '-c', join(folder, 'nginx.conf'), '-e', join(folder, 'error.log')];
  const command = startCommand(argv);
  await Promise.race([waitForPort(port), command.finished]);
  return {
    command,
    url: `http://127.0.0.1:${port}/${basename(file.path)}`,
    stop: async () => void (await command.end('SIGQUIT')),
  };
}

/** Seconds of `curl` for the whole file; nothing is verified. */
export async function timeCurl(url: string, output: string): Promise<number> {
  return (await runCommand(curl(url, output))).seconds;
}

export function curl(url: string, output: string): readonly string[] {
  return ['curl', '-sSf', '-o', output, url];
}
