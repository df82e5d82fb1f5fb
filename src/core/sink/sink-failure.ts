import { constants } from 'node:os';
import { getSystemErrorMap } from 'node:util';
import { systemCode, toWireBoundError, WireBoundError } from '../errors.js';
import { escapeForTerminal } from '../escape.js';

const NO_ROOM = new Set(['ENOSPC', 'EDQUOT']);

/** What libuv has no words for, or misleading ones. */
const WORDS: Readonly<Record<string, string>> = {
  EDQUOT: 'disk quota exceeded',
  ESTALE: 'stale file handle',
  ENOTSUP: 'operation not supported',
};

/**
 * A failed system call on the destination as a WireBoundError: `cannot ACTION PATH: reason in words (CODE)`,
 * SINK_FULL when there is no room, SINK_FAILED otherwise. A WireBoundError comes back as it is, and an error
 * that is not the system's becomes INTERNAL. `path` may come from a peer: it is escaped here.
 */
export function sinkFailure(
  error: unknown,
  action: string,
  path: string,
  suggestions: readonly string[] = [],
): WireBoundError {
  const code = systemName(error);
  if (error instanceof WireBoundError || code === undefined) return toWireBoundError(error);
  const known = [...getSystemErrorMap().values()].find(([name]) => name === code);
  const reason = WORDS[code] ?? known?.[1] ?? 'system error';
  const full = NO_ROOM.has(code);
  return new WireBoundError(
    full ? 'SINK_FULL' : 'SINK_FAILED',
    `cannot ${action} ${escapeForTerminal(path)}: ${reason} (${code})`,
    { cause: error, suggestions: full ? ['free some space there', ...suggestions] : suggestions },
  );
}

/** `ENOSPC`; also for errors that libuv knows by number only (EDQUOT); undefined for what is not a system error. */
function systemName(error: unknown): string | undefined {
  const code = systemCode(error);
  if (/^E[A-Z0-9]+$/.test(code)) return code;
  const { errno } = (error ?? {}) as { errno?: unknown };
  if (typeof errno !== 'number') return undefined;
  return Object.entries(constants.errno).find(([, number]) => number === -errno)?.[0] ?? `error ${-errno}`;
}
