import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer } from 'node:net';
import { join } from 'node:path';

/** A running nginx, with a folder of its own. */
export interface Nginx {
  readonly port: number;
  /** What it serves at `/`. */
  readonly root: string;
  /** One line for each request, once `stop` has been called: method, URI, status, bytes of body. */
  readonly logPath: string;
  /** Ends it; may be called twice. */
  stop(): Promise<void>;
}

/**
 * Starts the machine's nginx on a free port of the loopback interface. `locations` goes into its server block,
 * `folder` holds all of its files.
 */
export async function startNginx(folder: string, locations = ''): Promise<Nginx> {
  const root = join(folder, 'www');
  const logPath = join(folder, 'access.log');
  mkdirSync(root, { recursive: true });
  const port = await freePort();
  writeFileSync(join(folder, 'nginx.conf'), configuration(folder, port, locations));
  const child = spawn(
    'nginx',
    ['-p', folder, '-c', join(folder, 'nginx.conf'), '-e', join(folder, 'error.log')],
    {
      stdio: ['ignore', 'ignore', 'inherit'],
    },
  );
  const ended = once(child, 'close');
  ended.catch(() => undefined);
  await untilOpen(child, port);
  return {
    port,
    root,
    logPath,
    async stop() {
      child.kill('SIGQUIT');
      await ended;
    },
  };
}

function configuration(folder: string, port: number, locations: string): string {
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
  const user = process.getuid?.() === 0 ? 'user root;' : '';
  return `
    daemon off; ${user} worker_processes 1; pid ${folder}/nginx.pid;
    events { worker_connections 256; }
    http {
      ${temporary.map((name) => `${name}_temp_path ${folder}/${name};`).join('\n      ')}
      log_format short '$request_method $request_uri $status $body_bytes_sent';
      access_log ${folder}/access.log short;
      default_type application/octet-stream;
      sendfile on;
      server { listen 127.0.0.1:${port}; root ${folder}/www; ${locations} }
    }`;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

async function untilOpen(child: ChildProcess, port: number): Promise<void> {
  while (child.exitCode === null) {
    const socket = connect(port, '127.0.0.1');
    const open = await Promise.race([
      once(socket, 'connect').then(() => true),
      once(socket, 'error').then(() => false),
    ]).catch(() => false);
    socket.destroy();
    if (open) return;
  }
  throw new Error(`nginx ended with ${child.exitCode}`);
}
