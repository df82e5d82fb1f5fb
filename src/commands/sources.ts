import { ListingCommand } from '../terminal/listing-command.js';

/** `wirebound sources`: what `serve --source` can be given. */
export default class Sources extends ListingCommand {
  static override summary = 'List the sources, where they come from and whether they work on this machine.';
  static override usage = 'sources [FLAGS]';

  async run(): Promise<void> {
    const { flags } = await this.parse(Sources);
    await this.list(
      { kind: 'source', find: (app) => app.sources(), columns: [['FROM', ({ origin }) => origin]] },
      flags,
    );
  }
}
