import type { Interfaces } from '@oclif/core';
import * as Args from '@oclif/core/args';
import * as Flags from '@oclif/core/flags';
import type { GetRequest } from '../composition.js';
import { ERROR_CODES, WireBoundError } from '../core/errors.js';
import { BaseCommand } from '../terminal/base-command.js';
import { CLIENT_FLAGS, readClientFlags } from '../terminal/client-flags.js';
import { composeApp } from '../terminal/compose-app.js';
import { getUntilStopped } from '../terminal/get-until-stopped.js';
import { given } from '../terminal/given.js';
import { pluginFlags } from '../terminal/plugin-flags.js';
import { withoutOptimizer } from '../terminal/without-optimizer.js';

/** `wirebound get HOST`: fetches the file that a server serves, and proves it. */
export default class Get extends BaseCommand {
  static override summary = 'Get the file that a machine serves, verified with SHA-256.';
  static override description =
    'Exit code 0 means that the file is there, under its name, and that its SHA-256 is right. The same command again continues what was interrupted.';
  static override usage = 'get HOST[:PORT] [FLAGS]';
  static override examples = [
    '<%= config.bin %> get 192.168.1.20',
    '<%= config.bin %> get "[fd00::20]:7000" -o /data/',
    '<%= config.bin %> get build-server -o - | tar x',
  ];
  static override args = {
    host: Args.string({
      required: true,
      ignoreStdin: true,
      description: 'where the server is: HOST, HOST:PORT or [IPV6]:PORT',
    }),
  };
  static override flags = {
    output: Flags.string({
      char: 'o',
      helpValue: 'PATH',
      summary: 'File or folder to write; - for standard output, /dev/null to verify only.',
    }),
    force: Flags.boolean({ char: 'f', summary: 'Replace a different file, once the new one is verified.' }),
    expect: Flags.string({ helpValue: 'SHA256', summary: 'Fail unless the file has this SHA-256.' }),
    ...CLIENT_FLAGS,
    ...pluginFlags,
  };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(Get);
    const options = {
      ...readClientFlags(args.host, flags),
      ...readFlags(flags, this.terminal.stdout.isTTY === true),
    };
    const { openGetReport } = await import('../terminal/get-report.js');
    const report = openGetReport(this.terminal, flags);
    await this.withReport(report, async () => {
      const result = await getUntilStopped(async (signal) => {
        const warn = (message: string) => report.onEvent({ event: 'warning', message });
        const app = await composeApp({ flags, oclif: this.config, purpose: 'get', warn });
        const onEvent: GetRequest['onEvent'] = (event) => {
          // The result is shown below, after everything else.
          if (event.event !== 'result') report.onEvent(event);
        };
        const get = () => app.get({ ...options, signal, onEvent });
        return app.codecs().every(({ origin }) => origin === 'built-in') ? withoutOptimizer(get) : get();
      });
      if (result.result === 'FAIL') {
        const code = result.code ?? 'INTERNAL';
        if (flags.json) {
          const { message = 'the file was not verified', suggestions = [] } = result;
          this.fail(new WireBoundError(code, message, { suggestions }));
        }
        process.exitCode = ERROR_CODES[code].exitCode;
      }
      report.onEvent({ event: 'result', ...result });
    });
  }
}

type GetFlags = Interfaces.InferredFlags<typeof Get.flags & typeof BaseCommand.baseFlags>;
type GetOptions = Pick<GetRequest, 'force' | 'output' | 'expect'>;

function readFlags(flags: GetFlags, stdoutIsTerminal: boolean): GetOptions {
  if (flags.output === '-' && flags.json) {
    throw new WireBoundError('USAGE', '-o - and --json both want standard output: give one of them');
  }
  if (flags.output === '-' && stdoutIsTerminal) {
    throw new WireBoundError('USAGE', '-o - would write the file onto the terminal: pipe it into something');
  }
  return {
    force: flags.force,
    ...given('output', flags.output, (path) => path),
    ...given('expect', flags.expect, parseDigest),
  };
}

function parseDigest(text: string, flag: string): string {
  if (/^[0-9a-f]{64}$/i.test(text.trim())) return text.trim().toLowerCase();
  throw new WireBoundError(
    'USAGE',
    `${flag} ${JSON.stringify(text)} is not a SHA-256: give 64 hexadecimal digits`,
  );
}
