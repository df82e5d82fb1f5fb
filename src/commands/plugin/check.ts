import * as Args from '@oclif/core/args';
import * as Flags from '@oclif/core/flags';
import { ERROR_CODES } from '../../core/errors.js';
import { parseSeconds } from '../../core/units.js';
import { BaseCommand } from '../../terminal/base-command.js';
import { describeCheckEvent } from '../../terminal/check-lines.js';
import { formatJsonLine } from '../../terminal/json-lines.js';

/** `wirebound plugin check PATH`: the contracts, run on somebody's plugin. */
export default class PluginCheck extends BaseCommand {
  static override summary = 'Check that a plugin keeps the contracts that the built-in ones keep.';
  static override description =
    'Runs the codec contract on its codecs and, with --reference, the source contract on its sources. Exit code 0 means that nothing is broken. The rates are figures, not judgements.';
  static override usage = 'plugin check PATH-OR-PACKAGE [FLAGS]';
  static override examples = [
    '<%= config.bin %> plugin check .',
    '<%= config.bin %> plugin check ./my-source --reference my://thing --content thing.bin',
  ];
  static override args = {
    plugin: Args.string({ required: true, ignoreStdin: true, description: 'what --plugin takes' }),
  };
  static override flags = {
    reference: Flags.string({
      helpValue: 'REFERENCE',
      summary: 'What its sources are to open, 64 MiB at most.',
    }),
    content: Flags.string({ helpValue: 'FILE', summary: 'A file with what must come out of the reference.' }),
    sample: Flags.string({
      helpValue: 'FILE',
      summary: 'A file that its codecs encode; log text unless given.',
    }),
    timeout: Flags.string({
      default: '60',
      helpValue: 'SECONDS',
      summary: 'The longest that one promise may take to check.',
    }),
  };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(PluginCheck);
    const { checkPluginAt } = await import('../../testing/check-plugin.js');
    const { stdout } = this.terminal;
    const { broken } = await checkPluginAt(args.plugin, {
      reference: flags.reference,
      content: flags.content,
      sample: flags.sample,
      timeoutMs: parseSeconds(flags.timeout, '--timeout'),
      onEvent: (event) => {
        if (flags.json) stdout.write(formatJsonLine(event));
        else if (
          !flags.quiet ||
          event.event === 'warning' ||
          (event.event === 'case' && event.outcome === 'broken')
        ) {
          stdout.write(
            describeCheckEvent(event)
              .map((line) => `${line}\n`)
              .join(''),
          );
        }
      },
    });
    if (broken > 0) process.exitCode = ERROR_CODES.PLUGIN_FAILED.exitCode;
  }
}
