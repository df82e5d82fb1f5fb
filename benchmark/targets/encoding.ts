import { cacheChain, startServer } from '../subjects/wirebound.js';
import { startIdle } from '../support/idle-process.js';
import { LoopDelayWatch } from '../support/loop-delay-watch.js';
import { alternate, ratio } from '../support/pairs.js';
import { processSeconds } from '../support/processor-time.js';
import { makeServedFile, type ServedFile } from '../support/served-file.js';
import { median } from '../support/statistics.js';
import { runClients, runTransfer, yielding } from '../support/transfer-run.js';
import type { Workspace } from '../support/workspace.js';
import type { Figure, Target } from './target.js';

const MIB = 2 ** 20;
const CLIENTS = 8;
/** What `serve` takes for `--cache` unless told otherwise. */
const CACHE = 256 * MIB;

/** One run of a server that has encoded nothing yet. */
interface FreshRun {
  /** Processor seconds of the server, start-up not included. */
  readonly processor: number;
  readonly payloadBytes: number;
  readonly anonymous: number;
  /** Of its event loop, and of that of an idle process beside it; 99.9th percentile, milliseconds. */
  readonly delay: number;
  readonly idleDelay: number;
}

/** Target 10: everyone gets encoded what was encoded once, and random data cost nothing. */
export const encoding: Target = {
  number: 10,
  title: 'encoding, lz4',
  async measure({ workspace, size, pairs, tell }) {
    const text = await makeServedFile(workspace.disk, 'log', size / 2);
    await cacheChain(workspace, text);
    const one: FreshRun[] = [];
    const eight: FreshRun[] = [];
    for (let round = 0; round < pairs; round++) {
      one.push(await freshRun(workspace, text, 'lz4', 1));
      eight.push(await freshRun(workspace, text, 'lz4', CLIENTS));
    }
    const of = (runs: readonly FreshRun[], field: keyof FreshRun) => median(runs.map((run) => run[field]));
    const encoded = await makeServedFile(workspace.disk, 'random', Math.ceil(of(one, 'payloadBytes')));
    await cacheChain(workspace, encoded);
    const raw: FreshRun[] = [];
    for (let round = 0; round < pairs; round++) raw.push(await freshRun(workspace, encoded, 'none', CLIENTS));
    const [alone, together] = [of(one, 'processor'), of(eight, 'processor')];
    const sends = (of(raw, 'processor') * (CLIENTS - 1)) / CLIENTS;
    tell(`server's CPU: one ${alone} s, eight ${together} s, seven raw sends ${sends.toFixed(3)} s`);
    return [
      {
        what: "server's CPU for eight clients, to 1.6 times that for one and seven raw sends of the encoded bytes",
        value: together / (1.6 * alone + sends),
        bound: 1,
        note: `${together.toFixed(2)} s; one ${alone.toFixed(2)} s, seven raw sends ${sends.toFixed(2)} s`,
      },
      {
        what: 'event-loop delay, 99.9th percentile, eight clients',
        value: of(eight, 'delay'),
        bound: 20,
        unit: 'ms',
        note: `an idle process beside it had ${of(eight, 'idleDelay').toFixed(1)} ms`,
      },
      {
        what: 'anonymous memory of the server, with a cache of 256 MiB',
        value: of(eight, 'anonymous') / MIB,
        bound: CACHE / MIB + 64,
        unit: 'MiB',
      },
      await randomData(workspace, size, pairs, tell),
    ];
  },
};

async function freshRun(
  workspace: Workspace,
  file: ServedFile,
  codec: string,
  clients: number,
): Promise<FreshRun> {
  const watch = new LoopDelayWatch(workspace.disk, 'encoding');
  const server = await startServer(workspace, file, { codec, env: watch.env });
  await server.event('digest');
  const { pid } = server.command;
  const before = processSeconds(pid);
  const idleWatch = new LoopDelayWatch(workspace.disk, 'idle');
  const idle = await startIdle(idleWatch);
  watch.start(pid);
  idleWatch.start(idle.pid);
  const { serverAnonymous } = await runClients(workspace, file, server, { clients, output: yielding });
  const processor = processSeconds(pid) - before;
  const [delay, idleDelay] = [(await watch.stop(pid)).p999, (await idleWatch.stop(idle.pid)).p999];
  await idle.end();
  const { payloadBytes } = await server.stop();
  return { processor, payloadBytes: payloadBytes / clients, anonymous: serverAnonymous, delay, idleDelay };
}

async function randomData(
  workspace: Workspace,
  size: number,
  pairs: number,
  tell: (line: string) => void,
): Promise<Figure> {
  const file = await makeServedFile(workspace.disk, 'random', size);
  await cacheChain(workspace, file);
  const get = (codec: string) => async () =>
    (await runTransfer(workspace, file, { codec, clients: 1 })).seconds;
  const rounds = await alternate({ none: get('none'), lz4: get('lz4') }, pairs, tell);
  return {
    what: 'throughput with random data, to that of none',
    value: ratio(rounds, 'none', 'lz4'),
    bound: 0.95,
    boundIs: 'least',
  };
}
