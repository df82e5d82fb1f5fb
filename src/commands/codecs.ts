import { ListingCommand } from '../terminal/listing-command.js';

/** `wirebound codecs`: what `serve --codec` can be given. */
export default class Codecs extends ListingCommand {
  static override summary = 'List the codecs, where they come from and whether they work on this machine.';
  static override usage = 'codecs [FLAGS]';

  async run(): Promise<void> {
    const { flags } = await this.parse(Codecs);
    await this.list(
      { kind: 'codec', find: (app) => app.codecs(), columns: [['FROM', ({ origin }) => origin]] },
      flags,
    );
  }
}
