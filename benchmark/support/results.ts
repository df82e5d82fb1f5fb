import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { describeMachine, type Machine } from './machine.js';
import { ROOT } from './root.js';

/** The benchmarks that keep a result. */
export type Benchmark = 'sweep' | 'peers' | 'link' | 'targets';

/** What every result file holds beside its own figures. */
export interface ResultHead {
  readonly machine: Machine;
  /** The share of the machine that was busy with other things when the run began, 0 to 1. */
  readonly backgroundLoad: number;
  /** The command line. */
  readonly options: Readonly<Record<string, unknown>>;
}

const FOLDER = new URL('benchmark/results/', ROOT);
/** Where single runs are logged; not kept in the repository. */
export const LOGS = new URL('benchmark/logs/', ROOT);

/** Writes `benchmark/results/NAME.json`, which `npm run bench:docs` takes its tables from. */
export function writeResult(
  name: Benchmark,
  head: Omit<ResultHead, 'machine'>,
  body: Readonly<Record<string, unknown>>,
): void {
  const result = { machine: describeMachine(), ...head, ...body };
  mkdirSync(FOLDER, { recursive: true });
  writeFileSync(new URL(`${name}.json`, FOLDER), `${JSON.stringify(result, null, 2)}\n`);
}

/** Reads what {@link writeResult} wrote; undefined when that benchmark has not been run. */
export function readResult<T>(name: Benchmark): (ResultHead & T) | undefined {
  try {
    return JSON.parse(readFileSync(new URL(`${name}.json`, FOLDER), 'utf8')) as ResultHead & T;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
