import type { App } from '../composition.js';
import { ERROR_CODES } from '../core/errors.js';
import { ListingCommand } from '../terminal/listing-command.js';

type Listed = ReturnType<App['plugins']>[number];

/** `wirebound plugins`: what is loaded, and what is wrong with what is not. */
export default class Plugins extends ListingCommand {
  static override summary =
    'List the plugins, what they bring, and what is wrong with those that do not load.';
  static override description =
    'Plugins are named by --plugin, by the variable WIREBOUND_PLUGINS (separated by commas), or in wirebound.config.json in your configuration folder. Nothing that comes over the network, or lies in the working folder, can name one.';
  static override usage = 'plugins [FLAGS]';
  static override examples = [
    '<%= config.bin %> plugins',
    '<%= config.bin %> plugins --plugin ./my-codec --plugin wirebound-codec-zstd',
  ];

  async run(): Promise<void> {
    const { flags } = await this.parse(Plugins);
    let failed = false;
    const find = (app: App) => {
      const plugins = app.plugins();
      failed = plugins.some(
        ({ askedBy, unavailable }) => askedBy === '--plugin' && unavailable !== undefined,
      );
      return plugins;
    };
    await this.list(
      {
        kind: 'plugin',
        find,
        columns: [
          ['VERSION', ({ version = '' }) => version],
          ['BRINGS', describe],
          ['FROM', ({ origin, askedBy }) => (askedBy === undefined ? origin : `${origin} (${askedBy})`)],
        ],
        tolerant: true,
      },
      flags,
    );
    if (failed) process.exitCode = ERROR_CODES.PLUGIN_FAILED.exitCode;
  }
}

function describe({ codecs, sources }: Listed): string {
  const kinds = [
    codecs.length > 0 ? `codec ${codecs.join(', ')}` : '',
    sources.length > 0 ? `source ${sources.join(', ')}` : '',
  ];
  return kinds.filter((kind) => kind !== '').join('; ');
}
