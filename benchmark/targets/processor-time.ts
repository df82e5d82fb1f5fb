import { curl, startNginx } from '../subjects/nginx.js';
import { cacheChain, checkedResult, type Server, startGet, startServer } from '../subjects/wirebound.js';
import { type Command, runCommand } from '../support/command.js';
import { alternate, ratio } from '../support/pairs.js';
import { busiestThreadSeconds, machineSeconds } from '../support/processor-time.js';
import { makeServedFile, type ServedFile } from '../support/served-file.js';
import type { Workspace } from '../support/workspace.js';
import type { Figure, Target } from './target.js';

/** How often the digest thread's own time is read while it runs; what it does after the last look is not subtracted. */
const LOOK_MS = 10;

/** Target 4: what is not hashing costs hardly more than an unverified download. */
export const processorTime: Target = {
  number: 4,
  title: 'processor time without the digest threads, to nothing',
  async measure({ workspace, size, pairs, tell }) {
    const file = await makeServedFile(workspace.disk, 'random', size);
    await cacheChain(workspace, file);
    const [server, nginx] = [await startServer(workspace, file), await startNginx(workspace, file)];
    const figures: Figure[] = [];
    for (const clients of [1, 8]) {
      const url = nginx.url;
      const contenders = {
        get: () => withoutDigest(workspace, server, file, clients),
        curl: async () => {
          const before = machineSeconds();
          await Promise.all(Array.from({ length: clients }, () => runCommand(curl(url, '/dev/null'))));
          return machineSeconds() - before;
        },
      };
      const rounds = await alternate(contenders, pairs, (line) => tell(`CPU, ${clients} clients, ${line}`));
      const value = ratio(rounds, 'get', 'curl');
      figures.push({
        what: `${clients === 1 ? 'one client' : 'eight clients'}, to curl from nginx`,
        value,
        bound: 1.3,
      });
    }
    await server.stop();
    await nginx.stop();
    return figures;
  },
};

/** Processor seconds of the whole machine, less those of the clients' digest threads. */
async function withoutDigest(
  workspace: Workspace,
  server: Server,
  file: ServedFile,
  count: number,
): Promise<number> {
  const before = machineSeconds();
  const clients = Array.from({ length: count }, () => startGet(workspace, server.port));
  const digests = await Promise.all(clients.map((client) => digestSeconds(client, file)));
  return machineSeconds() - before - digests.reduce((total, seconds) => total + seconds, 0);
}

async function digestSeconds(client: Command, file: ServedFile): Promise<number> {
  let seconds = 0;
  const timer = setInterval(() => {
    seconds = Math.max(seconds, busiestThreadSeconds(client.pid));
  }, LOOK_MS);
  const { stdout } = await client.finished.finally(() => clearInterval(timer));
  checkedResult(stdout, file);
  return seconds;
}
