import { WireBoundError } from '../errors.js';
import { escapeForTerminal } from '../escape.js';

/** SINK_EXISTS for `target`; `partial` is where finished bytes stay meanwhile, if there are any. */
export function targetExists(target: string, partial?: string): WireBoundError {
  const kept = partial === undefined ? [] : [`what was received stays in ${escapeForTerminal(partial)}`];
  return new WireBoundError('SINK_EXISTS', `${escapeForTerminal(target)} already exists`, {
    suggestions: ['replace it with --force, or choose another -o', ...kept],
  });
}
