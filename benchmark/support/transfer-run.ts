import type { GetResult } from '#dist/core/client/get-event.js';
import type { ServeSummary } from '#dist/core/server/serve-event.js';
import {
  checkedResult,
  type GetOptions,
  type Server,
  type ServerOptions,
  startGet,
  startServer,
} from '../subjects/wirebound.js';
import { MemoryWatch } from './memory-watch.js';
import { machineSeconds } from './processor-time.js';
import type { ServedFile } from './served-file.js';
import type { Workspace } from './workspace.js';

/** One server and some clients at once, and how they fared. */
export interface TransferRun {
  /** From the start of the first client process to the end of the last. */
  readonly seconds: number;
  readonly clients: readonly ClientRun[];
  readonly summary: ServeSummary;
  /** Of the whole machine, while the clients ran. */
  readonly processorSeconds: number;
  /** Peaks, bytes; of the clients the largest. */
  readonly serverAnonymous: number;
  readonly clientResident: number;
}

export interface ClientRun {
  /** Of the whole process. */
  readonly seconds: number;
  readonly result: GetResult;
}

/** What {@link runTransfer} runs. */
export interface TransferPlan extends ServerOptions {
  readonly clients: number;
  /** Of the client with that number, from 0; nothing is written unless given. */
  output?(client: number): GetOptions;
}

/** Starts a server, lets all clients get the file at once, checks what they got, and stops the server. */
export async function runTransfer(
  workspace: Workspace,
  file: ServedFile,
  plan: TransferPlan,
): Promise<TransferRun> {
  const server = await startServer(workspace, file, plan);
  const run = await runClients(workspace, file, server, plan);
  return { ...run, summary: await server.stop() };
}

/** The clients' part of {@link runTransfer}, against a server that goes on. */
export async function runClients(
  workspace: Workspace,
  file: ServedFile,
  server: Server,
  plan: Pick<TransferPlan, 'clients' | 'output'>,
): Promise<Omit<TransferRun, 'summary'>> {
  const workedBefore = machineSeconds();
  const startedAt = performance.now();
  const commands = Array.from({ length: plan.clients }, (_, client) =>
    startGet(workspace, server.port, plan.output?.(client)),
  );
  const memory = new MemoryWatch([server.command.pid, ...commands.map(({ pid }) => pid)]);
  const ends = await Promise.all(commands.map(({ finished }) => finished));
  const seconds = (performance.now() - startedAt) / 1000;
  const processorSeconds = machineSeconds() - workedBefore;
  const [serverPeak, ...clientPeaks] = memory.stop();
  return {
    seconds,
    clients: ends.map((end) => ({ seconds: end.seconds, result: checkedResult(end.stdout, file) })),
    processorSeconds,
    serverAnonymous: serverPeak?.anonymous ?? 0,
    clientResident: Math.max(...clientPeaks.map(({ resident }) => resident)),
  };
}

/** Options of clients that leave the processors to the server, as they would on machines of their own. */
export function yielding(): GetOptions {
  return { under: ['nice', '-n', '19'] };
}
