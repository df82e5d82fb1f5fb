import { formatBytes, formatRate } from '#dist/core/units.js';
import type { ContentKind } from '../../test/support/content.js';
import { median, sum } from '../support/statistics.js';
import { markdownTable } from '../support/table.js';
import type { TransferRun } from '../support/transfer-run.js';

/** One combination of the sweep. */
export interface SweepCell {
  readonly content: ContentKind;
  readonly codec: string;
  /** KiB. */
  readonly chunk: number;
  readonly clients: number;
  /** `known`: the chain came from the cache; `first`: the server hashes while it serves. */
  readonly chain: 'known' | 'first';
}

/** Its log: one run of it. */
export interface SweepLog extends SweepCell {
  /** Bytes of the file. */
  readonly size: number;
  readonly run: TransferRun;
}

/** Medians over the runs of one combination. */
export interface SweepFigures extends SweepCell {
  /** Bytes of file per second of a whole client process, mean of the clients. */
  readonly perClient: number;
  /** Bytes of file that all clients together got per second. */
  readonly aggregate: number;
  readonly processorSecondsPerGib: number;
  readonly serverAnonymous: number;
  readonly clientResident: number;
  readonly bytesFromStorage: number;
  /** What most clients say kept them from being faster. */
  readonly limitedBy: string;
  /** Bytes on the wire as a multiple of the file bytes sent. */
  readonly wireShare: number;
}

/** Takes the runs of each combination together. */
export function summarizeSweep(logs: readonly SweepLog[]): readonly SweepFigures[] {
  const groups = new Map<string, SweepLog[]>();
  for (const log of logs) {
    const key = [log.content, log.chain, log.codec, log.chunk, log.clients].join(' ');
    groups.set(key, [...(groups.get(key) ?? []), log]);
  }
  return [...groups.values()].map((group) => {
    const [{ content, codec, chunk, clients, chain }] = group as [SweepLog];
    const over = (figure: (log: SweepLog) => number) => median(group.map(figure));
    return {
      content,
      codec,
      chunk,
      clients,
      chain,
      perClient: over(({ size, run }) => sum(run.clients.map(({ seconds }) => size / seconds)) / clients),
      aggregate: over(({ size, run }) => (size * clients) / run.seconds),
      processorSecondsPerGib: over(({ size, run }) => run.processorSeconds / ((size * clients) / 2 ** 30)),
      serverAnonymous: over(({ run }) => run.serverAnonymous),
      clientResident: over(({ run }) => run.clientResident),
      bytesFromStorage: over(({ run }) => run.summary.bytesFromStorage),
      limitedBy: mostCommon(
        group.flatMap(({ run }) => run.clients.map(({ result }) => result.limitedBy ?? '-')),
      ),
      wireShare: over(({ run }) => run.summary.bytesOnWire / Math.max(1, run.summary.bytesSent)),
    };
  });
}

function mostCommon(names: readonly string[]): string {
  const count = (name: string) => names.filter((other) => other === name).length;
  return names.toSorted((a, b) => count(b) - count(a))[0] ?? '-';
}

/** The table of one content. */
export function sweepTable(figures: readonly SweepFigures[], content: ContentKind): string {
  const rows = figures
    .filter((figure) => figure.content === content)
    .map((figure) => [
      figure.chain,
      figure.codec,
      `${figure.chunk} KiB`,
      `${figure.clients}`,
      formatRate(figure.perClient),
      formatRate(figure.aggregate),
      figure.processorSecondsPerGib.toFixed(2),
      figure.wireShare.toFixed(3),
      formatBytes(figure.serverAnonymous),
      formatBytes(figure.clientResident),
      formatBytes(figure.bytesFromStorage),
      figure.limitedBy,
    ]);
  return markdownTable(
    [
      'chain',
      'codec',
      'chunk',
      'clients',
      'per client',
      'all together',
      'CPU s/GiB',
      'on the wire',
      'server memory',
      'client memory',
      'storage reads',
      'limited by',
    ],
    rows,
  );
}

/** Random data with the chain known, in as few columns as tell the story. */
export function shortSweepTable(figures: readonly SweepFigures[]): string {
  const rows = figures
    .filter(({ content, chain }) => content === 'random' && chain === 'known')
    .map((figure) => [
      figure.codec,
      `${figure.chunk} KiB`,
      `${figure.clients}`,
      formatRate(figure.perClient),
      formatRate(figure.aggregate),
      figure.processorSecondsPerGib.toFixed(2),
      figure.limitedBy,
    ]);
  return markdownTable(
    ['codec', 'chunk', 'clients', 'per client', 'all together', 'CPU s/GiB', 'limited by'],
    rows,
  );
}
