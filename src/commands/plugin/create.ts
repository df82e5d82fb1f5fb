import * as Args from '@oclif/core/args';
import * as Flags from '@oclif/core/flags';
import { BaseCommand } from '../../terminal/base-command.js';
import { reportCreated } from '../../terminal/created-lines.js';

/** `wirebound plugin create codec NAME`: a package to start from. */
export default class PluginCreate extends BaseCommand {
  static override summary = 'Make a new package for a codec or a source, with tests that already pass.';
  static override usage = 'plugin create codec|source NAME [FLAGS]';
  static override examples = [
    '<%= config.bin %> plugin create codec runlength',
    '<%= config.bin %> plugin create source ftp --folder my-ftp',
  ];
  static override args = {
    kind: Args.string({
      required: true,
      ignoreStdin: true,
      options: ['codec', 'source'],
      description: 'what it brings',
    }),
    name: Args.string({
      required: true,
      ignoreStdin: true,
      description: 'what --codec calls it, or the scheme of what the source opens',
    }),
  };
  static override flags = {
    folder: Flags.string({
      helpValue: 'PATH',
      summary: 'The new folder; named like the package, in the current one, unless given.',
    }),
  };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(PluginCreate);
    const { createPlugin } = await import('../../scaffold/create-plugin.js');
    const kind = args.kind === 'codec' ? 'codec' : 'source';
    const created = await createPlugin({ kind, name: args.name, folder: flags.folder, cwd: process.cwd() });
    reportCreated(this.terminal, { ...created, kind, name: args.name }, flags);
  }
}
