import { Command } from '@oclif/core/command';
import * as Flags from '@oclif/core/flags';
import { escapeForTerminal } from '../core/escape.js';
import { isJsonAsked } from './is-json-asked.js';
import { formatJsonLine } from './json-lines.js';
import type { Report } from './report.js';
import { reportFailure } from './report-failure.js';
import { processTerminal, type Terminal } from './terminal.js';

const TICK_MS = 500;

/**
 * What all commands share: `--json` and `--quiet`, the terminal, and failures in one line with the right exit
 * code. (oclif's own `enableJsonFlag` prints one object at the end; ours is one object a line.)
 */
export abstract class BaseCommand extends Command {
  static override baseFlags = {
    json: Flags.boolean({ summary: 'One JSON object a line on standard output, and no text for people.' }),
    quiet: Flags.boolean({ char: 'q', summary: 'No progress and no results, only what went wrong.' }),
  };

  protected readonly terminal: Terminal = processTerminal();

  /** Runs `work` while `report` is kept up to date, and leaves the terminal as it was found. */
  protected async withReport<T>(report: Report<never>, work: () => Promise<T>): Promise<T> {
    const timer = setInterval(() => report.tick(), TICK_MS).unref();
    try {
      return await work();
    } finally {
      clearInterval(timer);
      report.close();
    }
  }

  /** Tells of something that is wrong and does not keep the command from its work. */
  protected warnOf(message: string, json: boolean): void {
    if (json) this.terminal.stdout.write(formatJsonLine({ event: 'warning', message }));
    else this.terminal.stderr.write(`warning: ${escapeForTerminal(message)}\n`);
  }

  /** Tells of a failure and makes its exit code that of the process. */
  protected fail(error: unknown): void {
    const usage = [`usage: wirebound ${this.ctor.usage}`, `wirebound ${this.id} --help says more`];
    process.exitCode = reportFailure(error, this.terminal, { json: isJsonAsked(this.argv), usage });
  }

  protected override async catch(error: Error): Promise<void> {
    this.fail(error);
  }
}
