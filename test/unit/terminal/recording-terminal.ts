import type { OutputStream, Terminal } from '#dist/terminal/terminal.js';

/** A terminal that records what is printed, with a clock that the test moves. */
export interface RecordingTerminal extends Terminal {
  readonly clock: { ms: number };
  /** Everything printed on stderr or stdout so far. */
  text(stream: 'stderr' | 'stdout'): string;
  /** The same in lines, and forgets them. */
  takeLines(stream: 'stderr' | 'stdout'): string[];
}

export function recordingTerminal(
  options: { isTTY?: boolean; columns?: number; env?: Record<string, string> } = {},
): RecordingTerminal {
  const printed = { stderr: '', stdout: '' };
  const clock = { ms: 0 };
  const stream = (name: 'stderr' | 'stdout'): OutputStream => ({
    write(text: string) {
      printed[name] += text;
      return true;
    },
    isTTY: options.isTTY,
    columns: options.columns,
  });
  return {
    stderr: stream('stderr'),
    stdout: stream('stdout'),
    env: options.env ?? {},
    nowMs: () => clock.ms,
    clock,
    text: (name) => printed[name],
    takeLines(name) {
      const lines = printed[name].split('\n').slice(0, -1);
      printed[name] = '';
      return lines;
    },
  };
}

/** What a terminal shows after `text`: follows line feeds, carriage returns, cursor up and clearing. */
export function screenOf(text: string): string[] {
  const rows = [''];
  let row = 0;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what moves the cursor
  for (const [token] of text.matchAll(/\x1b\[(\d*)([A-Za-z])|\x1b[78]|[\n\r]|[^\x1b\n\r]+/g)) {
    if (token === '\n') {
      row++;
      rows[row] ??= '';
    } else if (token === '\r' || token === '\x1b[1G' || token === '\x1b7' || token === '\x1b8') {
      // The text that follows replaces the row: none of our rows is written in pieces.
    } else if (token.endsWith('A') && token.startsWith('\x1b')) row -= Number(token.slice(2, -1));
    else if (token === '\x1b[J') rows.splice(row, rows.length, '');
    else if (token === '\x1b[2K') rows[row] = '';
    else if (token === '\x1b[0K') continue;
    else if (token.startsWith('\x1b'))
      throw new Error(`an escape sequence no one expects: ${JSON.stringify(token)}`);
    else rows[row] = token;
  }
  return rows.at(-1) === '' ? rows.slice(0, -1) : rows;
}
