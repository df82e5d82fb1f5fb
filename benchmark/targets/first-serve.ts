import { cacheChain, startServer, timeGet } from '../subjects/wirebound.js';
import { alternate, ratio } from '../support/pairs.js';
import { makeServedFile } from '../support/served-file.js';
import type { Target } from './target.js';

/** Target 5: nobody waits for the server's first pass over the file. */
export const firstServe: Target = {
  number: 5,
  title: 'first serve: both sides hash, on the same machine',
  async measure({ workspace, size, pairs, tell }) {
    const file = await makeServedFile(workspace.disk, 'random', size);
    await cacheChain(workspace, file);
    const serveAndGet = (rehash: boolean) => async () => {
      const server = await startServer(workspace, file, { rehash });
      const seconds = await timeGet(workspace, server.port, file);
      await server.stop();
      return seconds;
    };
    const rounds = await alternate({ first: serveAndGet(true), known: serveAndGet(false) }, pairs, tell);
    return [
      { what: 'wall time to one with the chain known', value: ratio(rounds, 'first', 'known'), bound: 1.6 },
    ];
  },
};
