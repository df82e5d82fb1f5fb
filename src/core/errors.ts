/**
 * Every way in which WireBound fails on purpose: the code that scripts see, the exit code of the
 * process, and one sentence for docs/errors.md (a test holds the two together).
 */
export const ERROR_CODES = {
  INTERNAL: { exitCode: 1, summary: 'Something that should not happen did; a bug.' },
  UNTIL_NOT_REACHED: {
    exitCode: 1,
    summary: 'The server stopped before as many runs had verified as --until asked for.',
  },
  USAGE: { exitCode: 2, summary: 'A flag or an argument is missing, unknown or out of range.' },
  SOURCE_NOT_FOUND: { exitCode: 3, summary: 'The file to serve does not exist.' },
  SOURCE_UNREADABLE: { exitCode: 3, summary: 'The file to serve may not be read, or reading it failed.' },
  SOURCE_NOT_REGULAR: {
    exitCode: 3,
    summary: 'The thing to serve is a folder, a device, a pipe or a socket, not a regular file.',
  },
  SOURCE_TOO_LARGE: {
    exitCode: 3,
    summary: 'What has to be held in memory (standard input) is larger than the memory it may take.',
  },
  SOURCE_CHANGED: { exitCode: 3, summary: 'The file was changed or truncated while it was served.' },
  SOURCE_UNAVAILABLE: {
    exitCode: 3,
    summary: 'That way of reading the source does not work on this machine or for this file.',
  },
  PORT_IN_USE: { exitCode: 4, summary: 'Another program already listens on that port.' },
  LISTEN_FAILED: { exitCode: 4, summary: 'The address or port cannot be opened for listening.' },
  HOST_NOT_FOUND: { exitCode: 4, summary: 'The name of the host does not resolve to an address.' },
  CONNECTION_REFUSED: { exitCode: 4, summary: 'Nothing listens at that address and port.' },
  CONNECTION_TIMEOUT: { exitCode: 4, summary: 'The host did not answer in time, or cannot be reached.' },
  CONNECTION_LOST: { exitCode: 4, summary: 'The connection broke before the transfer was complete.' },
  IDLE: { exitCode: 4, summary: 'The peer stayed silent, or moved too little, for longer than is allowed.' },
  BUSY: { exitCode: 4, summary: 'The server already serves as many clients as it may.' },
  DRAINING: { exitCode: 4, summary: 'The server is stopping and takes no new clients.' },
  STOPPED: { exitCode: 4, summary: 'The server was stopped in the middle of the transfer.' },
  NOT_WIREBOUND: { exitCode: 5, summary: 'What answers at that address is not a WireBound server.' },
  VERSION_MISMATCH: { exitCode: 5, summary: 'The two sides speak different protocol versions.' },
  PROTOCOL: { exitCode: 5, summary: 'The peer sent something that the protocol does not allow.' },
  DIGEST_MISMATCH: {
    exitCode: 6,
    summary: 'The bytes that arrived do not have the SHA-256 they should have.',
  },
  CODEC_UNKNOWN: { exitCode: 2, summary: 'No codec of that name is registered.' },
  CODEC_UNAVAILABLE: { exitCode: 7, summary: 'The codec is known but does not work on this machine.' },
  CODEC_FAILED: { exitCode: 7, summary: 'A codec threw, or returned something of the wrong type or length.' },
  SINK_EXISTS: { exitCode: 8, summary: 'A different file is already there, and --force was not given.' },
  SINK_FULL: { exitCode: 8, summary: 'There is not enough room for the file.' },
  SINK_IN_USE: { exitCode: 8, summary: 'Another wirebound get is writing the same file.' },
  SINK_UNSAFE: { exitCode: 8, summary: 'The name or the thing at the destination is not safe to write to.' },
  SINK_FAILED: {
    exitCode: 8,
    summary: 'The destination cannot be written, or a file that is there cannot be read.',
  },
  PLUGIN_FAILED: { exitCode: 9, summary: 'A plugin cannot be loaded or does not keep its contract.' },
  INTERRUPTED: { exitCode: 130, summary: 'Stopped by Ctrl+C (SIGINT), or by the signal of a library call.' },
  TERMINATED: { exitCode: 143, summary: 'Stopped by SIGTERM or SIGHUP.' },
} as const satisfies Record<string, { exitCode: number; summary: string }>;

/** A key of {@link ERROR_CODES}; also what an Error frame carries. */
export type ErrorCode = keyof typeof ERROR_CODES;

/** What {@link WireBoundError} takes beside its code and message. */
export interface WireBoundErrorOptions {
  /** What the user can do next; one short line each. */
  readonly suggestions?: readonly string[];
  readonly cause?: unknown;
  /** Trying again would only end the same way. */
  readonly final?: boolean;
}

/** Marks our errors across copies of this module: a plugin brings its own. */
const BRAND = Symbol.for('wirebound.error');

/**
 * The one error class for failures that are expected. `message` is one line that says what, where and
 * the number; it never ends in a stop and never carries raw bytes from a peer. `instanceof` also knows
 * the errors of another copy of WireBound in the same process.
 */
export class WireBoundError extends Error {
  static override [Symbol.hasInstance](value: unknown): value is WireBoundError {
    if (!(value instanceof Error) || !(BRAND in value)) return false;
    return isErrorCode(String((value as { code?: unknown }).code));
  }

  get [BRAND](): true {
    return true;
  }

  override readonly name = 'WireBoundError';
  readonly code: ErrorCode;
  readonly suggestions: readonly string[];
  /** Trying again would only end the same way; many errors do not know. */
  readonly final: boolean;

  constructor(code: ErrorCode, message: string, options: WireBoundErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.suggestions = options.suggestions ?? [];
    this.final = options.final ?? false;
  }

  /** The exit code of a process that ends with this error. */
  get exitCode(): number {
    return ERROR_CODES[this.code].exitCode;
  }
}

/** Whether `text` is one of our error codes (it may come from a peer). */
export function isErrorCode(text: string): text is ErrorCode {
  return Object.hasOwn(ERROR_CODES, text);
}

/** The system's code of an error (`ENOENT`), or an empty string. */
export function systemCode(error: unknown): string {
  const code = (error as { code?: unknown } | undefined)?.code;
  return typeof code === 'string' ? code : '';
}

/** Anything thrown, as a WireBoundError: itself if it is one, otherwise wrapped under `code`. */
export function toWireBoundError(error: unknown, code: ErrorCode = 'INTERNAL'): WireBoundError {
  if (error instanceof WireBoundError) return error;
  const text = error instanceof Error ? error.message : String(error);
  return new WireBoundError(code, text, { cause: error });
}
