import { run } from '@oclif/core/run';
import { settings } from '@oclif/core/settings';
import { isJsonAsked } from './is-json-asked.js';
import { reportFailure } from './report-failure.js';
import { processTerminal } from './terminal.js';

/**
 * The whole process: runs the command line and ends. `root` is the folder of the package. Failures that no
 * command caught are told like those of commands.
 */
export async function runCli(root: string): Promise<never> {
  // Otherwise NODE_ENV=test or development makes oclif look for TypeScript.
  settings.enableAutoTranspile = false;
  guardStreams();
  // What Node and oclif warn of (an API that will change, a folder of oclif's that cannot be read) is nothing that a
  // user of this program can act on.
  if (!process.env.DEBUG) process.removeAllListeners('warning');
  process.on('uncaughtException', (error) => {
    process.exit(fail(error));
  });
  try {
    await run(process.argv.slice(2), root);
  } catch (error) {
    process.exitCode = fail(error);
  }
  await Promise.all([process.stdout, process.stderr].map(flushed));
  // Not by itself: a socket or a thread that is still open must not keep a finished command alive.
  process.exit();
}

function fail(error: unknown): number {
  const usage = ['usage: wirebound COMMAND [FLAGS]', 'wirebound --help lists the commands'];
  return reportFailure(error, processTerminal(), { json: isJsonAsked(process.argv.slice(2)), usage });
}

function flushed(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((resolve) => {
    stream.write('', () => resolve());
  });
}

/**
 * A reader that goes away (`| head`), a terminal that was closed or a full disk under a log must not end a
 * transfer: what cannot be printed is dropped. Replaces oclif's listener, which throws for all but EPIPE.
 */
function guardStreams(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.removeAllListeners('error');
    stream.on('error', () => {});
  }
}
