import { cacheChain, startServer } from '../subjects/wirebound.js';
import { runLink } from '../support/link-run.js';
import { makeServedFile } from '../support/served-file.js';
import { fairness as index, median } from '../support/statistics.js';
import { LINK_LIMITS, TestNetwork } from '../support/test-network.js';
import { runClients } from '../support/transfer-run.js';
import type { Figure, Skipped, Target, TargetContext } from './target.js';

/** Target 7: nobody is starved. */
export const fairness: Target = {
  number: 7,
  title: "fairness (Jain's index)",
  measure: async (context) => [await onLoopback(context), ...(await onLinks(context))],
};

async function onLoopback({ workspace, size, pairs, tell }: TargetContext): Promise<Figure> {
  const file = await makeServedFile(workspace.disk, 'random', size / 2);
  await cacheChain(workspace, file);
  const server = await startServer(workspace, file);
  const indexes: number[] = [];
  for (let run = 0; run <= pairs; run++) {
    const { clients } = await runClients(workspace, file, server, { clients: 8 });
    const value = index(clients.map(({ result }) => file.size / result.seconds));
    tell(`eight clients: ${value.toFixed(4)}`);
    if (run > 0) indexes.push(value);
  }
  await server.stop();
  return { what: 'eight clients, loopback', value: median(indexes), bound: 0.98, boundIs: 'least' };
}

async function onLinks({ workspace, size, tell }: TargetContext): Promise<readonly (Figure | Skipped)[]> {
  const obstacle = TestNetwork.obstacle();
  if (obstacle !== undefined) return [{ what: 'two clients on a limited link', skipped: obstacle }];
  const network = new TestNetwork(2);
  const figures: Figure[] = [];
  try {
    for (const link of LINK_LIMITS.filter(({ qdisc }) => qdisc !== undefined)) {
      const file = await makeServedFile(
        workspace.disk,
        'random',
        link.name === '64 Mbit/s' ? size / 16 : size / 2,
      );
      await cacheChain(workspace, file);
      const run = await runLink(workspace, network, file, { link, codec: 'none', clients: 2 });
      tell(`two clients at ${link.name}: ${run.fairness.toFixed(4)} in ${run.seconds.toFixed(1)} s`);
      figures.push({ what: `two clients, ${link.name}`, value: run.fairness, bound: 0.95, boundIs: 'least' });
    }
  } finally {
    network.close();
  }
  return figures;
}
