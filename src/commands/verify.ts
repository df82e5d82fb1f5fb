import * as Args from '@oclif/core/args';
import * as Flags from '@oclif/core/flags';
import { ERROR_CODES } from '../core/errors.js';
import { BaseCommand } from '../terminal/base-command.js';
import { CLIENT_FLAGS, readClientFlags } from '../terminal/client-flags.js';
import { composeApp } from '../terminal/compose-app.js';
import { getUntilStopped } from '../terminal/get-until-stopped.js';
import { pluginFlags } from '../terminal/plugin-flags.js';

/** `wirebound verify FILE HOST`: compares a local copy with what a server offers. */
export default class Verify extends BaseCommand {
  static override summary =
    'Compare a local copy with the file that a machine serves, and repair it if asked to.';
  static override description =
    'Exit code 0 means that the copy is identical, or is now; 6 that it is different. Chunks that are not right are fetched, up to 1000 of them.';
  static override usage = 'verify FILE HOST[:PORT] [FLAGS]';
  static override examples = [
    '<%= config.bin %> verify build.iso 192.168.1.20',
    '<%= config.bin %> verify build.iso 192.168.1.20 --repair',
  ];
  static override args = {
    file: Args.string({ required: true, ignoreStdin: true, description: 'the local copy' }),
    host: Args.string({
      required: true,
      ignoreStdin: true,
      description: 'where the server is: HOST, HOST:PORT or [IPV6]:PORT',
    }),
  };
  static override flags = {
    repair: Flags.boolean({ summary: 'Put what was fetched in the place of what is not right.' }),
    ...CLIENT_FLAGS,
    ...pluginFlags,
  };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(Verify);
    const options = { ...readClientFlags(args.host, flags), path: args.file, repair: flags.repair };
    const { openVerifyReport } = await import('../terminal/get-report.js');
    const report = openVerifyReport(this.terminal, flags);
    await this.withReport(report, async () => {
      const result = await getUntilStopped(async (signal) => {
        const warn = (message: string) => report.onEvent({ event: 'warning', message });
        const app = await composeApp({ flags, oclif: this.config, warn });
        return app.verify({
          ...options,
          signal,
          onEvent: (event) => {
            // The result is shown below, after everything else.
            if (event.event !== 'result') report.onEvent(event);
          },
        });
      });
      if (result.result === 'DIFFERENT') process.exitCode = ERROR_CODES.DIGEST_MISMATCH.exitCode;
      report.onEvent({ event: 'result', ...result });
    });
  }
}
