import type { ContentKind } from '../../test/support/content.js';
import { cacheChain } from '../subjects/wirebound.js';
import { runLink } from '../support/link-run.js';
import { alternate, ratio } from '../support/pairs.js';
import { makeServedFile } from '../support/served-file.js';
import { LINK_LIMITS, TestNetwork } from '../support/test-network.js';
import type { Figure, Target } from './target.js';

/** A limited link repeats itself so well that more rounds tell nothing new. */
const MOST_ROUNDS = 2;
const SHARES: Readonly<Record<'log' | 'random', { readonly of: number; readonly bound: number }>> = {
  log: { of: 4, bound: 1 / 10 },
  random: { of: 16, bound: 1.02 },
};

/** Target 8: compression pays where the link is slow, and costs nothing where there is nothing to gain. */
export const slowLink: Target = {
  number: 8,
  title: 'a link of 64 Mbit/s',
  async measure({ workspace, size, pairs, tell }) {
    const obstacle = TestNetwork.obstacle();
    if (obstacle !== undefined) return [{ what: 'lz4 to raw', skipped: obstacle }];
    const [link] = LINK_LIMITS as [(typeof LINK_LIMITS)[number]];
    const network = new TestNetwork(1);
    const figures: Figure[] = [];
    try {
      for (const [content, { of, bound }] of Object.entries(SHARES)) {
        const file = await makeServedFile(workspace.disk, content as ContentKind, size / of);
        await cacheChain(workspace, file);
        const get = (codec: string) => async () =>
          (await runLink(workspace, network, file, { link, codec, clients: 1 })).seconds;
        const rounds = await alternate(
          { lz4: get('lz4'), raw: get('none') },
          Math.min(pairs, MOST_ROUNDS),
          tell,
        );
        const mib = file.size / 2 ** 20;
        figures.push({
          what: `lz4 to raw, ${mib} MiB of ${content} data`,
          value: ratio(rounds, 'lz4', 'raw'),
          bound,
        });
      }
    } finally {
      network.close();
    }
    return figures;
  },
};
