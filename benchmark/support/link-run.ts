import type { ContentKind } from '../../test/support/content.js';
import { startServer } from '../subjects/wirebound.js';
import type { ServedFile } from './served-file.js';
import { fairness, median } from './statistics.js';
import type { LinkLimit, TestNetwork } from './test-network.js';
import { runClients } from './transfer-run.js';
import type { Workspace } from './workspace.js';

/** One transfer over a limited link, or the medians of several. */
export interface LinkRun {
  readonly link: string;
  readonly content: ContentKind;
  /** Of the file, bytes. */
  readonly size: number;
  readonly codec: string;
  readonly clients: number;
  /** From the start of the first client process to the end of the last. */
  readonly seconds: number;
  /** From the server's host, headers and repeats included, as a multiple of the bytes of all files. */
  readonly wireShare: number;
  /** Jain's index of what the clients' own clocks say; 1 for a single one. */
  readonly fairness: number;
}

/** Serves `file` over the link as it is limited now; all clients start together and keep nothing. */
export async function runLink(
  workspace: Workspace,
  network: TestNetwork,
  file: ServedFile,
  plan: { readonly link: LinkLimit; readonly codec: string; readonly clients: number },
): Promise<LinkRun> {
  const { link, codec, clients } = plan;
  network.limit(link);
  const host = network.serverAddress;
  const server = await startServer(workspace, file, { codec, host, under: network.onServer });
  const sentBefore = network.bytesSent;
  const run = await runClients(workspace, file, server, {
    clients,
    output: (client) => ({ host, under: network.onClient(client) }),
  });
  const sent = network.bytesSent - sentBefore;
  await server.stop();
  return {
    link: link.name,
    content: file.content,
    size: file.size,
    codec,
    clients,
    seconds: run.seconds,
    wireShare: sent / (file.size * clients),
    fairness: fairness(run.clients.map(({ result }) => file.size / result.seconds)),
  };
}

/** The medians of equal runs. */
export function medianRun(runs: readonly LinkRun[]): LinkRun {
  const middle = (of: 'seconds' | 'wireShare' | 'fairness') => median(runs.map((run) => run[of]));
  const [first] = runs as [LinkRun];
  return {
    ...first,
    seconds: middle('seconds'),
    wireShare: middle('wireShare'),
    fairness: middle('fairness'),
  };
}
