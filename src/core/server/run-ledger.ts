import type { Verdict } from '../framing/messages.js';

/** One `get`, over all its connections. */
export interface Run {
  /** Counts from 1 in the order of arrival; what people see. */
  readonly number: number;
  readonly id: string;
  readonly startedAtMs: number;
  state: 'active' | 'lost' | 'verified' | 'failed';
  address: string;
  /** File bytes it is known to have: where its last request stands. */
  bytes: number;
}

/** Ended runs that are remembered by their id; of older ones only the number stays. */
const MOST_ENDED = 10_000;

/** Everything the ledger tells its owner. */
export interface LedgerObserver {
  /** A run is over; a failed verdict carries why. */
  finished(run: Run, verdict: Verdict): void;
}

/**
 * Keeps count of runs rather than connections: a run whose connection breaks may come back within `returnMs`
 * and is one run still.
 */
export class RunLedger {
  readonly #runs = new Map<string, Run>();
  readonly #timers = new Map<Run, NodeJS.Timeout>();
  readonly #returnMs: number;
  readonly #observer: LedgerObserver;
  readonly #forgotten = { active: 0, lost: 0, verified: 0, failed: 0 };
  #arrivals = 0;

  constructor(returnMs: number, observer: LedgerObserver) {
    this.#returnMs = returnMs;
    this.#observer = observer;
  }

  /** Whether the run was here before. */
  knows(id: string): boolean {
    return this.#runs.has(id);
  }

  /** The run of that id, if it was here before. */
  find(id: string): Run | undefined {
    return this.#runs.get(id);
  }

  /** A run connects, for the first time or again. */
  arrive(id: string, address: string): Run {
    const known = this.#runs.get(id);
    const run: Run = known ?? {
      number: ++this.#arrivals,
      id,
      startedAtMs: performance.now(),
      state: 'active',
      address,
      bytes: 0,
    };
    this.#stopTimer(run);
    run.address = address;
    if (run.state !== 'verified') run.state = 'active';
    this.#runs.set(id, run);
    return run;
  }

  /** A run has ended. One that has ended already stays as it is, unless it has come back since. */
  conclude(run: Run, verdict: Verdict): void {
    if (run.state === 'verified' || run.state === 'failed') return;
    this.#stopTimer(run);
    run.state = verdict.verified ? 'verified' : 'failed';
    this.#observer.finished(run, verdict);
    if (this.#runs.size > MOST_ENDED) this.#forgetOldest();
  }

  /** A run's connection is gone without a verdict; it has some time to come back. */
  lose(run: Run, verdict: Verdict): void {
    if (run.state !== 'active') return;
    run.state = 'lost';
    this.#timers.set(
      run,
      setTimeout(() => this.conclude(run, verdict), this.#returnMs),
    );
  }

  /** Runs that have not ended: connected ones and lost ones that may come back. */
  get open(): readonly Run[] {
    return [...this.#runs.values()].filter((run) => run.state === 'active' || run.state === 'lost');
  }

  count(state: Run['state']): number {
    let count = this.#forgotten[state];
    for (const run of this.#runs.values()) if (run.state === state) count++;
    return count;
  }

  /** Ends every open run as failed. */
  concludeAll(verdict: Verdict): void {
    for (const run of this.open) this.conclude(run, verdict);
  }

  #forgetOldest(): void {
    for (const [id, { state }] of this.#runs) {
      if (state !== 'verified' && state !== 'failed') continue;
      this.#runs.delete(id);
      this.#forgotten[state]++;
      return;
    }
  }

  #stopTimer(run: Run): void {
    clearTimeout(this.#timers.get(run));
    this.#timers.delete(run);
  }
}
