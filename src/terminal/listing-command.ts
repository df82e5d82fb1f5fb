import type { App } from '../composition.js';
import { systemCode } from '../core/errors.js';
import { escapeForTerminal } from '../core/escape.js';
import { BaseCommand } from './base-command.js';
import { type ComposeAppOptions, composeApp } from './compose-app.js';
import { formatJsonLine } from './json-lines.js';
import { pluginFlags } from './plugin-flags.js';
import type { ReportOptions } from './report.js';

/** What everything that is listed has. */
interface Listed {
  readonly name: string;
  readonly origin: string;
  /** Why it does not work; absent when it does. */
  readonly unavailable?: string;
}

/** How a list is found and shown. */
export interface Listing<T extends Listed> {
  /** The event's name in JSON. */
  readonly kind: string;
  find(app: App): readonly T[];
  /** What stands between a name and whether it works: headings, and cells for one entry. */
  readonly columns: readonly (readonly [heading: string, cell: (entry: T) => string])[];
  /** Failed plugins are part of the list, rather than a warning or the end of the command. */
  readonly tolerant?: boolean;
}

type ListingFlags = ReportOptions & ComposeAppOptions['flags'];

/** Lists what is registered: a table, names alone when quiet, or a JSON object a line. */
export abstract class ListingCommand extends BaseCommand {
  static override baseFlags = { ...BaseCommand.baseFlags, ...pluginFlags };

  protected async list<T extends Listed>(listing: Listing<T>, flags: ListingFlags): Promise<void> {
    const { tolerant = false } = listing;
    const warn = (message: string) => {
      if (!tolerant || message.startsWith('the configuration')) this.warnOf(message, flags.json);
    };
    const app = await composeApp({ flags, oclif: this.config, tolerant, warn });
    const listed = listing.find(app);
    const text = flags.json
      ? jsonOf(listing, listed)
      : flags.quiet
        ? namesOf(listed)
        : tableOf(listing, listed);
    await this.#print(text);
  }

  /** A list that cannot be written is a failure, unlike a line of a report; a reader that has seen enough is none. */
  #print(text: string): Promise<void> {
    return new Promise((resolve) => {
      this.terminal.stdout.write(text, (error) => {
        if (error && systemCode(error) !== 'EPIPE') process.exitCode = 1;
        resolve();
      });
    });
  }
}

function jsonOf<T extends Listed>({ kind }: Listing<T>, listed: readonly T[]): string {
  return listed
    .map(({ unavailable, ...entry }) => {
      const available = unavailable === undefined;
      return formatJsonLine({ event: kind, ...entry, available, reason: unavailable });
    })
    .join('');
}

function namesOf(listed: readonly Listed[]): string {
  return listed.map(({ name }) => `${escapeForTerminal(name)}\n`).join('');
}

function tableOf<T extends Listed>({ columns }: Listing<T>, listed: readonly T[]): string {
  const rows = listed.map((entry) => [
    entry.name,
    ...columns.map(([, cell]) => cell(entry)),
    entry.unavailable === undefined ? 'yes' : `no: ${entry.unavailable}`,
  ]);
  const headings = ['NAME', ...columns.map(([heading]) => heading), 'WORKS HERE'];
  const table = [headings, ...rows.map((row) => row.map(escapeForTerminal))];
  const widths = headings
    .slice(0, -1)
    .map((_, column) => Math.max(...table.map((row) => row[column]?.length ?? 0)));
  return table.map((row) => `${row.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join('  ')}\n`).join('');
}
