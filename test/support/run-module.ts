import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** Makes `koffi` impossible to load, as on a machine where that optional package is missing. */
export const WITHOUT_KOFFI = `
  import { register } from 'node:module';
  register('data:text/javascript,' + encodeURIComponent(
    "export async function resolve(name, context, next) {" +
    "  if (name === 'koffi') throw new Error('not installed'); return next(name, context); }"));
`;

/** A running module; `end` it in any case, or await `finished`. */
export interface RunningModule {
  readonly pid: number;
  /** Resolves, to all of standard output so far, once that holds `text`; rejects when the process ends without it. */
  waitFor(text: string): Promise<string>;
  /** Sends a signal and waits for the end. */
  end(signal?: NodeJS.Signals): Promise<void>;
  readonly finished: Promise<{
    readonly code: number | null;
    readonly stdout: string;
    readonly stderr: string;
  }>;
}

/**
 * Runs `code` as an ES module in a process of its own; it may import `#dist/...` and finds `args` in
 * `process.argv` from index 1 on. `through` is a command line that starts it (`['prlimit', '--fsize=1']`).
 */
export function runModule(code: string, args: string[] = [], through: string[] = []): RunningModule {
  const [command = '', ...rest] = [...through, process.execPath, '--input-type=module', '-e', code, ...args];
  const child = spawn(command, rest, { cwd: ROOT, stdio: ['ignore', 'pipe', 'pipe'] });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  const finished = once(child, 'close').then(([code]: number[]) => ({ code: code ?? null, stdout, stderr }));
  return {
    pid: child.pid ?? 0,
    finished,
    async waitFor(text) {
      while (!stdout.includes(text)) {
        const ended = await Promise.race([
          once(child.stdout, 'data').then(() => false),
          finished.then(() => true),
        ]);
        if (ended && !stdout.includes(text)) throw new Error(`ended without "${text}": ${stdout}${stderr}`);
      }
      return stdout;
    },
    async end(signal = 'SIGKILL') {
      child.kill(signal);
      await finished;
    },
  };
}
