import { join } from 'node:path';
import { curl, startNginx } from '../subjects/nginx.js';
import { cacheChain, startServer } from '../subjects/wirebound.js';
import { runCommand } from '../support/command.js';
import { alternate, ratio } from '../support/pairs.js';
import { makeServedFile } from '../support/served-file.js';
import { runClients } from '../support/transfer-run.js';
import type { Target } from './target.js';

const CLIENTS = 8;

/** Target 3: eight at once, each writing its own copy, against eight times fetching and verifying afterwards. */
export const eightClientsToMemory: Target = {
  number: 3,
  title: 'eight clients, verified and written to tmpfs (half the size each)',
  async measure({ workspace, size, pairs, tell }) {
    const file = await makeServedFile(workspace.disk, 'random', size / 2);
    await cacheChain(workspace, file);
    const [server, nginx] = [await startServer(workspace, file), await startNginx(workspace, file)];
    const output = (client: number) => join(workspace.memory, `received-${client}`);
    const contenders = {
      get: async () => {
        const { seconds } = await runClients(workspace, file, server, {
          clients: CLIENTS,
          output: (client) => ({ output: output(client) }),
        });
        await workspace.clearMemory();
        return seconds;
      },
      'curl && openssl': async () => {
        const startedAt = performance.now();
        const fetchAndVerify = async (client: number) => {
          await runCommand(curl(nginx.url, output(client)));
          await runCommand(['openssl', 'dgst', '-sha256', output(client)]);
        };
        await Promise.all(Array.from({ length: CLIENTS }, (_, client) => fetchAndVerify(client)));
        const seconds = (performance.now() - startedAt) / 1000;
        await workspace.clearMemory();
        return seconds;
      },
    };
    const rounds = await alternate(contenders, pairs, tell);
    await server.stop();
    await nginx.stop();
    return [
      {
        what: 'aggregate rate to eight times curl && openssl dgst',
        value: ratio(rounds, 'curl && openssl', 'get'),
        bound: 1,
        boundIs: 'least',
        aim: 1.2,
      },
    ];
  },
};
