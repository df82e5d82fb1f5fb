import { ERROR_CODES, type ErrorCode, WireBoundError } from '../core/errors.js';
import { escapeForTerminal } from '../core/escape.js';
import { formatJsonLine } from './json-lines.js';
import type { Terminal } from './terminal.js';

/** What oclif throws: a usage error with a text of several lines, or an order to exit. */
interface OclifError extends Error {
  readonly code?: string;
  readonly oclif: { readonly exit?: number };
  readonly args?: readonly { readonly name: string }[];
}

/** How to tell of a failure. */
export interface FailureOptions {
  readonly json: boolean;
  /** How the command is called and where to read more: lines that follow a usage error. */
  readonly usage: readonly string[];
}

/**
 * Tells of a failure in one line, followed by what can be done about it: as a JSON line on stdout or as text on
 * stderr. A stack comes only with an unexpected error, and only when `DEBUG` is set.
 * @returns the exit code of the process.
 */
export function reportFailure(error: unknown, terminal: Terminal, { json, usage }: FailureOptions): number {
  if (isOclifError(error) && error.code === 'EEXIT') return error.oclif.exit ?? 0;
  const { code, message, suggestions } = describeFailure(error, usage);
  if (json) {
    terminal.stdout.write(formatJsonLine({ event: 'error', code, message, suggestions }));
  } else {
    const lines = [
      `wirebound: ${escapeForTerminal(message)}`,
      ...suggestions.map((line) => `  ${escapeForTerminal(line)}`),
    ];
    terminal.stderr.write(lines.map((line) => `${line}\n`).join(''));
  }
  if (code === 'INTERNAL' && terminal.env.DEBUG) terminal.stderr.write(`${stackOf(error)}\n`);
  return ERROR_CODES[code].exitCode;
}

interface Failure {
  readonly code: ErrorCode;
  readonly message: string;
  readonly suggestions: readonly string[];
}

function describeFailure(error: unknown, usage: readonly string[]): Failure {
  if (error instanceof WireBoundError) {
    const { code, message, suggestions } = error;
    return { code, message, suggestions: code === 'USAGE' ? [...suggestions, ...usage] : suggestions };
  }
  if (isOclifError(error)) return { code: 'USAGE', message: oclifMessage(error), suggestions: usage };
  const message = error instanceof Error ? error.message : String(error);
  return {
    code: 'INTERNAL',
    message: `internal error: ${message}`,
    suggestions: ['this is a bug; the same command with DEBUG=1 shows where'],
  };
}

function isOclifError(error: unknown): error is OclifError {
  return error instanceof Error && typeof (error as Partial<OclifError>).oclif === 'object';
}

/** oclif's text in one line, without its advice. */
function oclifMessage({ message, args }: OclifError): string {
  const [first = '', ...rest] = message.replace(/\s*See more help with --help\s*$/, '').split(/\s*\n\s*/);
  if (/^Missing \d+ required arg/.test(first) && args !== undefined) {
    return `missing ${args.map(({ name }) => name.toUpperCase()).join(' ')}`;
  }
  return [first.charAt(0).toLowerCase() + first.slice(1), ...rest].join(' ').trim();
}

function stackOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? '') : '';
}
