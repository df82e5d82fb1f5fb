import { type ChildProcess, spawn } from 'node:child_process';
import { EventEmitter } from 'node:events';

const DEADLINE_MS = 30_000;

/** How a CLI process ended; exactly one of `exitCode` and `signal` is null. */
export interface CliResult {
  readonly exitCode: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: Buffer;
  readonly stderr: string;
}

/** How a {@link CliProcess} is spawned. */
export interface SpawnOptions {
  readonly cwd?: string | undefined;
  readonly env: NodeJS.ProcessEnv;
  /** What the process reads on standard input; nothing by default. */
  readonly input?: Uint8Array | undefined;
  /** After `input`, standard input stays open: its end does not come. */
  readonly keepInputOpen?: boolean | undefined;
}

/** A line of `--json` output. */
export type JsonEvent = Readonly<Record<string, unknown>> & { readonly event: string };

/** One running (or ended) CLI process. `startCli` makes them. */
export class CliProcess {
  readonly child: ChildProcess;
  /** Resolves when the process has ended and its output is complete; never rejects on a bad exit code. */
  readonly finished: Promise<CliResult>;
  readonly #output: Buffer[] = [];
  readonly #changed = new EventEmitter().setMaxListeners(0);
  readonly #command: string;
  #stderr = '';
  #ended = false;

  constructor(command: string, args: readonly string[], options: SpawnOptions) {
    this.#command = [command, ...args].join(' ');
    this.child = spawn(command, args, {
      cwd: options.cwd,
      env: options.env,
      detached: true,
      stdio: [options.input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
    });
    const stdin = this.child.stdin?.on('error', () => {});
    if (options.keepInputOpen === true) stdin?.write(options.input ?? '');
    else stdin?.end(options.input);
    this.child.stdout?.on('data', (piece: Buffer) => {
      this.#output.push(piece);
      this.#changed.emit('change');
    });
    this.child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#stderr += text;
      this.#changed.emit('change');
    });
    this.finished = new Promise((resolve, reject) => {
      this.child.once('error', reject);
      this.child.once('close', (exitCode, signal) => {
        this.#ended = true;
        this.#changed.emit('change');
        resolve({ exitCode, signal, stdout: this.stdout, stderr: this.#stderr });
      });
    });
    this.finished.catch(() => {});
  }

  get pid(): number {
    if (this.child.pid === undefined) throw new Error(`could not start ${this.#command}`);
    return this.child.pid;
  }

  /** What came on standard output so far. */
  get stdout(): Buffer {
    return Buffer.concat(this.#output);
  }

  /** What came on standard error so far. */
  get stderr(): string {
    return this.#stderr;
  }

  /** The complete `--json` lines so far, in order. */
  get events(): readonly JsonEvent[] {
    return completeLines(this.stdout.toString())
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line) as JsonEvent);
  }

  /** Resolves to the first complete line of either stream that matches; rejects when none can come any more. */
  line(pattern: RegExp, deadlineMs = DEADLINE_MS): Promise<string> {
    const lines = () => [...completeLines(this.stdout.toString()), ...completeLines(this.#stderr)];
    return this.#until(
      () => lines().find((line) => pattern.test(line)),
      `a line like ${pattern}`,
      deadlineMs,
    );
  }

  /** Resolves to the first event of that name for which `accept` holds; rejects when none can come any more. */
  event(name: string, accept = (_: JsonEvent) => true, deadlineMs = DEADLINE_MS): Promise<JsonEvent> {
    const find = () => this.events.find((event) => event.event === name && accept(event));
    return this.#until(find, `the event '${name}'`, deadlineMs);
  }

  /** Sends a signal to the process and what it started; does nothing when it has ended. */
  kill(signal: NodeJS.Signals = 'SIGTERM'): void {
    if (this.#ended || this.child.pid === undefined) return;
    try {
      process.kill(-this.child.pid, signal);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
  }

  #until<T>(find: () => T | undefined, what: string, deadlineMs: number): Promise<T> {
    return new Promise((resolve, reject) => {
      const settle = (act: () => void) => {
        clearTimeout(timer);
        this.#changed.off('change', check);
        act();
      };
      const fail = (why: string) =>
        settle(() =>
          reject(new Error(`${why} without ${what}: ${this.#command}\n${this.stdout}${this.#stderr}`)),
        );
      const check = () => {
        const found = find();
        if (found !== undefined) settle(() => resolve(found));
        else if (this.#ended) fail('ended');
      };
      const timer = setTimeout(() => fail(`${deadlineMs} ms passed`), deadlineMs);
      this.#changed.on('change', check);
      check();
    });
  }
}

function completeLines(text: string): readonly string[] {
  return text.split('\n').slice(0, -1);
}
