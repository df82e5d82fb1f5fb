import { escapeForTerminal } from '../../escape.js';

/** The longest text that an Error or a Verdict carries, characters. */
export const MAX_TEXT = 1000;

/** A text that fits into its frame whatever is in it: escaped, no character takes more than 3 bytes. */
export function shortenText(message: string): string {
  return escapeForTerminal(message).slice(0, MAX_TEXT);
}
