import type { App } from '../composition.js';
import { escapeForTerminal } from '../core/escape.js';
import { BaseCommand } from './base-command.js';
import { formatJsonLine } from './json-lines.js';
import type { ReportOptions } from './report.js';

/** One registered codec or source. */
interface Listed {
  readonly name: string;
  readonly origin: string;
  readonly unavailable?: string;
}

/** Lists what is registered: a table, names alone when quiet, or a JSON object a line. */
export abstract class ListingCommand extends BaseCommand {
  /** `kind` is the event's name in JSON. */
  protected async list(
    kind: string,
    { json, quiet }: ReportOptions,
    find: (app: App) => readonly Listed[],
  ): Promise<void> {
    const { compose } = await import('../composition.js');
    const listed = find(await compose());
    const { stdout } = this.terminal;
    if (json) {
      for (const { name, origin, unavailable } of listed) {
        const available = unavailable === undefined;
        stdout.write(formatJsonLine({ event: kind, name, origin, available, reason: unavailable }));
      }
    } else stdout.write(quiet ? namesOf(listed) : tableOf(listed));
  }
}

function namesOf(listed: readonly Listed[]): string {
  return listed.map(({ name }) => `${escapeForTerminal(name)}\n`).join('');
}

function tableOf(listed: readonly Listed[]): string {
  const rows = listed.map(({ name, origin, unavailable }) => [
    escapeForTerminal(name),
    escapeForTerminal(origin),
    unavailable === undefined ? 'yes' : `no: ${escapeForTerminal(unavailable)}`,
  ]);
  const table = [['NAME', 'FROM', 'WORKS HERE'], ...rows];
  const widths = [0, 1].map((column) => Math.max(...table.map((row) => row[column]?.length ?? 0)));
  return table.map((row) => `${row.map((cell, i) => cell.padEnd(widths[i] ?? 0)).join('  ')}\n`).join('');
}
