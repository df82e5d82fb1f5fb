import type { Interfaces } from '@oclif/core';
import * as Args from '@oclif/core/args';
import * as Flags from '@oclif/core/flags';
import type { ServeRequest } from '../composition.js';
import { toWireBoundError, WireBoundError } from '../core/errors.js';
import { parseChunkSize, parseCount, parsePort, parseRate, parseSize } from '../core/units.js';
import { BaseCommand } from '../terminal/base-command.js';
import { composeApp } from '../terminal/compose-app.js';
import { given } from '../terminal/given.js';
import { pluginFlags } from '../terminal/plugin-flags.js';
import { openServeReport } from '../terminal/serve-report.js';
import { serveUntilStopped } from '../terminal/serve-until-stopped.js';
import { parseTarget, type Target } from '../terminal/target.js';

/** `wirebound serve FILE`: one file to any number of clients, until it is stopped. */
export default class Serve extends BaseCommand {
  static override summary = 'Serve one file to any number of machines.';
  static override description =
    'Clients can start at once, while the file is still being hashed. Ctrl+C lets the active transfers finish; a second Ctrl+C stops now.';
  static override usage = 'serve FILE [FLAGS]';
  static override examples = [
    '<%= config.bin %> serve build.iso',
    '<%= config.bin %> serve build.iso --until 30 --limit-rate 50M',
    '$ tar c photos | <%= config.bin %> serve - --name photos.tar',
  ];
  static override args = {
    file: Args.string({
      required: true,
      ignoreStdin: true,
      description: 'the file, or - for standard input',
    }),
  };
  static override flags = {
    codec: Flags.string({
      default: 'auto',
      helpValue: 'NAME',
      summary: 'How chunks are compressed; auto compresses for each client only while that is faster.',
    }),
    cache: Flags.string({
      default: '256M',
      helpValue: 'SIZE',
      summary: 'Memory for compressed chunks that clients share.',
    }),
    chunk: Flags.string({
      default: '256',
      helpValue: 'SIZE',
      summary: 'Size of a chunk: KiB, or with a unit (64k, 1M); a multiple of 4 KiB from 64 KiB to 16 MiB.',
    }),
    port: Flags.string({
      char: 'p',
      default: '6767',
      helpValue: 'PORT',
      summary: 'TCP port; 0 picks a free one.',
    }),
    host: Flags.string({ helpValue: 'ADDRESS', summary: 'Listen on this address only, instead of all.' }),
    source: Flags.string({
      default: 'auto',
      helpValue: 'NAME',
      summary: 'How the file is read: auto, mmap, file, memory, or one of a plugin.',
    }),
    name: Flags.string({ helpValue: 'NAME', summary: 'What clients call the file.' }),
    'max-clients': Flags.string({ helpValue: 'N', summary: 'Most clients at the same time.' }),
    until: Flags.string({ helpValue: 'N', summary: 'Stop with exit code 0 once N clients have verified.' }),
    'limit-rate': Flags.string({
      helpValue: 'RATE',
      summary: 'Bytes per second for all clients together (50M).',
    }),
    memory: Flags.string({
      helpValue: 'SIZE',
      summary: 'Most memory for content that has to be held (2G); half of the machine unless given.',
    }),
    rehash: Flags.boolean({ summary: 'Hash the file again even if its SHA-256 is known from before.' }),
    ...pluginFlags,
  };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(Serve);
    const options = readFlags(flags);
    const report = openServeReport(this.terminal, flags);
    const { summary, forced } = await this.withReport(report, async () => {
      const outcome = await serveUntilStopped(async (signal) => {
        const warn = (message: string) => report.onEvent({ event: 'warning', message });
        const app = await composeApp({ flags, oclif: this.config, warn });
        const onEvent: ServeRequest['onEvent'] = (event) => {
          // The summary is shown below, after everything else.
          if (event.event !== 'summary') report.onEvent(event);
        };
        return app.serve({ ...options, reference: args.file, onEvent }, signal);
      });
      if (outcome.summary !== undefined) report.onEvent({ event: 'summary', ...outcome.summary });
      return outcome;
    });
    if (forced !== undefined) throw forced;
    const { until } = options;
    const verified = summary?.verified ?? 0;
    if (until !== undefined && verified < until) {
      throw new WireBoundError(
        'UNTIL_NOT_REACHED',
        `stopped after ${verified} of the ${until} runs that --until awaits`,
      );
    }
  }
}

type ServeFlags = Interfaces.InferredFlags<typeof Serve.flags>;

function readFlags(flags: ServeFlags): Omit<ServeRequest, 'reference' | 'onEvent'> {
  return {
    codec: flags.codec,
    cacheBytes: parseSize(flags.cache, '--cache'),
    chunkSize: parseChunkSize(flags.chunk, '--chunk'),
    port: parsePort(flags.port, '--port', 0),
    source: flags.source,
    rehash: flags.rehash,
    ...given('memoryLimit', flags.memory, parseSize, '--memory'),
    ...given('host', flags.host, parseHost),
    ...given('name', flags.name, parseName),
    ...given('maxClients', flags['max-clients'], parseCount, '--max-clients'),
    ...given('until', flags.until, parseCount),
    ...given('bytesPerSecond', flags['limit-rate'], parseRate, '--limit-rate'),
  };
}

function parseHost(text: string, flag: string): string {
  let target: Target;
  try {
    target = parseTarget(text);
  } catch (error) {
    throw new WireBoundError('USAGE', `${flag} ${toWireBoundError(error).message}`);
  }
  if (target.port === undefined) return target.host;
  throw new WireBoundError(
    'USAGE',
    `${flag} ${JSON.stringify(text)} has a port: give it with --port instead`,
  );
}

function parseName(text: string, flag: string): string {
  const isComponent = text.trim() !== '' && text !== '.' && text !== '..' && !/[/\0]/.test(text);
  if (isComponent) return text;
  throw new WireBoundError(
    'USAGE',
    `${flag} ${JSON.stringify(text)} is not a file name: give one name without a folder`,
  );
}
