import { timeOpenssl } from '../subjects/openssl.js';
import { cacheChain, startServer, timeGet } from '../subjects/wirebound.js';
import { alternate, ratio } from '../support/pairs.js';
import { makeServedFile } from '../support/served-file.js';
import type { Target } from './target.js';

/** Target 1: verifying on arrival costs little more than hashing the file on this disk. */
export const oneClientToNothing: Target = {
  number: 1,
  title: 'one client, verified, to nothing',
  async measure({ workspace, size, pairs, tell }) {
    const file = await makeServedFile(workspace.disk, 'random', size);
    await cacheChain(workspace, file);
    const server = await startServer(workspace, file);
    const rounds = await alternate(
      { get: () => timeGet(workspace, server.port, file), openssl: () => timeOpenssl(file.path) },
      pairs,
      tell,
    );
    await server.stop();
    const value = ratio(rounds, 'get', 'openssl');
    return [{ what: 'wall time to openssl dgst -sha256 of the file', value, bound: 1 / 0.85, aim: 1 / 0.95 }];
  },
};
