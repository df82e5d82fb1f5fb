import { escapeForTerminal } from './escape.js';

const MAX_LENGTH = 200;

/**
 * What was thrown, as one printable line for the end of a message: the first line of its message, escaped,
 * at most 200 characters. Takes anything (a plugin may throw what it likes) and never throws itself.
 */
export function causeLine(thrown: unknown): string {
  const message = (thrown as { message?: unknown } | null | undefined)?.message ?? thrown;
  const text =
    typeof message === 'object' || typeof message === 'function' ? typeof message : String(message);
  return escapeForTerminal(
    text
      .trim()
      .split(/[\r\n]/, 1)
      .join('')
      .slice(0, MAX_LENGTH),
  );
}
