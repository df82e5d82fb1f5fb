import { join } from 'node:path';
import { startNginx, timeCurl } from '../subjects/nginx.js';
import { timeOpenssl } from '../subjects/openssl.js';
import { cacheChain, startServer, timeGet } from '../subjects/wirebound.js';
import { alternate, ratio } from '../support/pairs.js';
import { makeServedFile } from '../support/served-file.js';
import type { Target } from './target.js';

/** Target 2: faster than fetching a file and verifying it afterwards. */
export const oneClientToMemory: Target = {
  number: 2,
  title: 'one client, verified and written to tmpfs',
  async measure({ workspace, size, pairs, tell }) {
    const file = await makeServedFile(workspace.disk, 'random', size);
    await cacheChain(workspace, file);
    const [server, nginx] = [await startServer(workspace, file), await startNginx(workspace, file)];
    const output = join(workspace.memory, 'received');
    let unverified = 0;
    const contenders = {
      get: async () => {
        const seconds = await timeGet(workspace, server.port, file, { output });
        await workspace.clearMemory();
        return seconds;
      },
      'curl && openssl': async () => {
        unverified = await timeCurl(nginx.url, output);
        const seconds = unverified + (await timeOpenssl(output));
        await workspace.clearMemory();
        return seconds;
      },
      // The first part of the line above, as a figure of its own.
      curl: () => Promise.resolve(unverified),
    };
    const rounds = await alternate(contenders, pairs, tell);
    await server.stop();
    await nginx.stop();
    return [
      {
        what: 'wall time to curl -o, then openssl dgst',
        value: ratio(rounds, 'get', 'curl && openssl'),
        bound: 0.7,
        aim: 0.6,
      },
      { what: 'wall time to curl -o alone, not verified', value: ratio(rounds, 'get', 'curl') },
    ];
  },
};
