import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { waitFor } from './wait-for.js';

const PRELOAD = fileURLToPath(new URL('loop-delay.cjs', import.meta.url));

/** How late an event loop ran, milliseconds. */
export interface LoopDelay {
  readonly p50: number;
  readonly p99: number;
  readonly p999: number;
  readonly max: number;
}

/** Watches the event loop of another Node process that was started with `env`. */
export class LoopDelayWatch {
  readonly env: Readonly<Record<string, string>>;
  readonly #report: string;

  /** The report goes to `FOLDER/NAME.json`. */
  constructor(folder: string, name: string) {
    this.#report = join(folder, `${name}.json`);
    rmSync(this.#report, { force: true });
    this.env = { NODE_OPTIONS: `--require "${PRELOAD}"`, WIREBOUND_BENCH_LOOP_DELAY: this.#report };
  }

  start(pid: number): void {
    process.kill(pid, 'SIGUSR2');
  }

  async stop(pid: number): Promise<LoopDelay> {
    process.kill(pid, 'SIGUSR2');
    return waitFor('the loop delay', () => {
      const text = existsSync(this.#report) ? readFileSync(this.#report, 'utf8') : '';
      return text.endsWith('}') ? (JSON.parse(text) as LoopDelay) : undefined;
    });
  }
}
