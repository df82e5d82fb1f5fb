import { spawn } from 'node:child_process';

/** How {@link startCommand} runs a command. */
export interface CommandOptions {
  readonly cwd?: string;
  /** Added to the environment. */
  readonly env?: Readonly<Record<string, string>>;
  /** A command it is run under (`['ip', 'netns', 'exec', 'NAME']`). */
  readonly under?: readonly string[];
  /** Called with each piece of standard output. */
  readonly onOutput?: (text: string) => void;
}

/** How a command ended. */
export interface CommandResult {
  /** From before it was started until it had ended. */
  readonly seconds: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** A running command. */
export interface Command {
  readonly pid: number;
  /** Rejects, with what it said, when the exit code is not 0 and it was not killed by `end`. */
  readonly finished: Promise<CommandResult>;
  /** Sends a signal, SIGTERM by default, and waits for the end. */
  end(signal?: NodeJS.Signals): Promise<CommandResult>;
}

const running = new Set<() => void>();
process.on('exit', () => {
  for (const kill of running) kill();
});

/** Starts one command without a shell. Whatever still runs when this process exits is killed by its pid. */
export function startCommand(argv: readonly string[], options: CommandOptions = {}): Command {
  const [program = '', ...args] = [...(options.under ?? []), ...argv];
  const startedAt = performance.now();
  const child = spawn(program, args, {
    cwd: options.cwd,
    env: { ...process.env, ...options.env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const kill = () => child.kill('SIGKILL');
  running.add(kill);
  let seconds = 0;
  let stdout = '';
  let stderr = '';
  let ending = false;
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
    options.onOutput?.(text);
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  child.once('exit', () => {
    seconds = (performance.now() - startedAt) / 1000;
  });
  const finished = new Promise<CommandResult>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => {
      running.delete(kill);
      if (code === 0 || ending) resolve({ seconds, stdout, stderr });
      else reject(new Error(`${argv.join(' ')}: ended with ${signal ?? code}\n${stdout}${stderr}`));
    });
  });
  finished.catch(() => undefined); // told to whoever awaits it
  return {
    pid: child.pid ?? 0,
    finished,
    end(signal = 'SIGTERM') {
      ending = true;
      child.kill(signal);
      return finished;
    },
  };
}

/** Runs one command to its end; rejects when its exit code is not 0. */
export function runCommand(argv: readonly string[], options: CommandOptions = {}): Promise<CommandResult> {
  return startCommand(argv, options).finished;
}
