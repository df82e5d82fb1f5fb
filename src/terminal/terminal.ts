/** As much of a writable stream as the views need. */
export interface OutputStream {
  /** `done` is told of what went wrong, if anything did. */
  write(text: string, done?: (error?: Error | null) => void): unknown;
  readonly isTTY?: boolean | undefined;
  /** Width in characters; undefined where there is no terminal. */
  readonly columns?: number | undefined;
}

/** What a command prints to, and the clock by which it does. */
export interface Terminal {
  /** JSON lines, listings and the bytes of `-o -`; nothing else. */
  readonly stdout: OutputStream;
  /** Everything for people. */
  readonly stderr: OutputStream;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Monotonic, milliseconds. */
  readonly nowMs: () => number;
}

/** The terminal of this process. */
export function processTerminal(): Terminal {
  return {
    stdout: process.stdout,
    stderr: process.stderr,
    env: process.env,
    nowMs: () => performance.now(),
  };
}

/** Whether stderr may be redrawn: a terminal, and none of `NO_COLOR`, `CI` and `TERM=dumb`. */
export function mayMoveCursor({ stderr, env }: Terminal): boolean {
  return stderr.isTTY === true && !isSet(env.NO_COLOR) && !isSet(env.CI) && env.TERM !== 'dumb';
}

function isSet(value: string | undefined): boolean {
  return value !== undefined && value !== '' && value !== 'false';
}
