import { type Command, startCommand } from './command.js';
import type { LoopDelayWatch } from './loop-delay-watch.js';
import { waitFor } from './wait-for.js';

/** A process that does nothing: how late it runs is what the machine's load does to everyone. */
export async function startIdle(watch: LoopDelayWatch): Promise<Command> {
  let ready = false;
  const code = "setInterval(() => {}, 1e6); console.log('ready')";
  const command = startCommand([process.execPath, '-e', code], {
    env: watch.env,
    onOutput: () => {
      ready = true;
    },
  });
  await waitFor('the idle process', () => ready || undefined);
  return command;
}
