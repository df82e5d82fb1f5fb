import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** How the server's side of the network is slowed down. */
export interface LinkLimit {
  /** For people and on the command line. */
  readonly name: string;
  /** For `tc qdisc add dev X root`; undefined: no limit. */
  readonly qdisc?: readonly string[];
}

/** The server's own end of the link, so that all clients share one bottleneck, as they would a network card. */
export const LINK_LIMITS: readonly LinkLimit[] = [
  { name: '64 Mbit/s', qdisc: ['tbf', 'rate', '64mbit', 'burst', '256kb', 'latency', '50ms'] },
  { name: '1 Gbit/s', qdisc: ['tbf', 'rate', '1gbit', 'burst', '1mb', 'latency', '50ms'] },
  { name: 'unlimited' },
];

/** The one of that name; throws with the names there are. */
export function linkLimit(name: string): LinkLimit {
  const limit = LINK_LIMITS.find((link) => link.name === name);
  if (limit !== undefined) return limit;
  throw new Error(`there is no link "${name}"; there are ${LINK_LIMITS.map((link) => link.name).join()}`);
}

/** Hosts in network namespaces of their own, joined by a switch; nothing outside can be reached. */
export class TestNetwork {
  readonly serverAddress = '10.77.0.1';
  readonly #prefix = `wb${process.pid}`;
  readonly #clients: number;
  readonly #onExit = () => this.close();

  /** Makes a server and `clients` clients; needs root, and `ip` and `tc` of iproute2. */
  constructor(clients: number) {
    this.#clients = clients;
    process.once('exit', this.#onExit);
    ip('netns', 'add', this.#name('switch'));
    ip('-n', this.#name('switch'), 'link', 'add', 'br0', 'type', 'bridge');
    ip('-n', this.#name('switch'), 'link', 'set', 'br0', 'up');
    this.#plug('server', this.serverAddress, 0);
    for (let client = 0; client < clients; client++)
      this.#plug(`client${client}`, `10.77.0.${client + 2}`, client + 1);
  }

  /** Why there can be no such network here; undefined when there can. */
  static obstacle(): string | undefined {
    if (process.platform !== 'linux') return 'it needs Linux';
    if (process.getuid?.() !== 0) return 'it needs root, for network namespaces';
    try {
      ip('-V');
      execFileSync('tc', ['-V'], { stdio: 'pipe' });
      return undefined;
    } catch {
      return 'it needs ip and tc (Debian: iproute2)';
    }
  }

  /** Limits what the server sends. */
  limit({ qdisc }: LinkLimit): void {
    const tc = (...args: string[]) => ip('netns', 'exec', this.#name('server'), 'tc', 'qdisc', ...args);
    try {
      tc('del', 'dev', 'eth0', 'root');
    } catch {
      // there was no limit yet
    }
    if (qdisc !== undefined) tc('add', 'dev', 'eth0', 'root', ...qdisc);
  }

  /** The command to run something on the server's host under. */
  get onServer(): readonly string[] {
    return ['ip', 'netns', 'exec', this.#name('server')];
  }

  /** The same for a client, from 0. */
  onClient(client: number): readonly string[] {
    return ['ip', 'netns', 'exec', this.#name(`client${client}`)];
  }

  /** Bytes that have left the server's host so far, headers and repeats included. */
  get bytesSent(): number {
    const [link] = JSON.parse(ip('-n', this.#name('server'), '-s', '-j', 'link', 'show', 'eth0')) as [
      { stats64: { tx: { bytes: number } } },
    ];
    return link.stats64.tx.bytes;
  }

  /** Removes everything. */
  close(): void {
    process.off('exit', this.#onExit);
    const names = ['server', 'switch', ...Array.from({ length: this.#clients }, (_, at) => `client${at}`)];
    const present = readFileSync('/proc/self/mountinfo', 'utf8');
    for (const name of names.map((host) => this.#name(host))) {
      if (present.includes(`/${name} `)) ip('netns', 'del', name);
    }
  }

  #plug(host: string, address: string, port: number): void {
    const [inside, switchSpace] = [this.#name(host), this.#name('switch')];
    ip('netns', 'add', inside);
    ip(
      '-n',
      inside,
      'link',
      'add',
      'eth0',
      'type',
      'veth',
      'peer',
      'name',
      `port${port}`,
      'netns',
      switchSpace,
    );
    ip('-n', switchSpace, 'link', 'set', `port${port}`, 'master', 'br0', 'up');
    ip('-n', inside, 'addr', 'add', `${address}/24`, 'dev', 'eth0');
    ip('-n', inside, 'link', 'set', 'eth0', 'up');
    ip('-n', inside, 'link', 'set', 'lo', 'up');
  }

  #name(host: string): string {
    return `${this.#prefix}-${host}`;
  }
}

function ip(...args: readonly string[]): string {
  return execFileSync('ip', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
}
