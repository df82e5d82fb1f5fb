import type { ContractCase } from './contract-case.js';

/** How one case went. */
export interface CaseResult {
  readonly title: string;
  readonly outcome: 'kept' | 'broken' | 'not run';
  /** What broke it, on as many lines as the failure has. */
  readonly reason?: string;
}

/** How a contract is run. */
export interface RunContractOptions {
  /** A case that takes longer is broken, and so is the contract; a minute unless given. */
  readonly timeoutMs?: number;
  /** Called before each case. */
  readonly onStart?: (title: string) => void;
  /** Called after each case. */
  readonly onResult?: (result: CaseResult) => void;
}

/**
 * Runs the cases one after another, without any test framework, and never rejects: an error that is thrown outside of
 * any call (a timer, a forgotten promise) breaks the case that was running. After a case that is fatal, or that does
 * not end, the others are not run.
 */
export async function runContract(
  cases: readonly ContractCase[],
  { timeoutMs = 60_000, onStart, onResult }: RunContractOptions = {},
): Promise<readonly CaseResult[]> {
  const results: CaseResult[] = [];
  let stopped: string | undefined;
  for (const { title, fatal = false, run } of cases) {
    onStart?.(title);
    const failure = stopped === undefined ? await attempt(run, timeoutMs) : undefined;
    const result: CaseResult =
      stopped !== undefined
        ? { title, outcome: 'not run', reason: stopped }
        : failure === undefined
          ? { title, outcome: 'kept' }
          : { title, outcome: 'broken', reason: failure.reason };
    if (failure !== undefined && (fatal || failure.endless)) stopped = `because of "${title}"`;
    results.push(result);
    onResult?.(result);
  }
  return results;
}

interface Failure {
  readonly reason: string;
  readonly endless: boolean;
}

async function attempt(run: () => Promise<void>, timeoutMs: number): Promise<Failure | undefined> {
  let timer: NodeJS.Timeout | undefined;
  let onStray: ((error: unknown) => void) | undefined;
  const overdue = new Promise<Failure>((resolve) => {
    timer = setTimeout(() => {
      resolve({ reason: `it did not end within ${timeoutMs / 1000} s`, endless: true });
    }, timeoutMs);
  });
  const stray = new Promise<Failure>((resolve) => {
    onStray = (error) =>
      resolve({ reason: `thrown outside of any call: ${reasonOf(error)}`, endless: false });
    process.on('uncaughtException', onStray);
    process.on('unhandledRejection', onStray);
  });
  const ended = settle(run);
  try {
    return await Promise.race([ended, overdue, stray]);
  } finally {
    clearTimeout(timer);
    if (onStray !== undefined) {
      process.off('uncaughtException', onStray);
      process.off('unhandledRejection', onStray);
    }
  }
}

/** Runs it, and waits a moment for what it may have left behind. */
async function settle(run: () => Promise<void>): Promise<Failure | undefined> {
  let failure: Failure | undefined;
  try {
    await run();
  } catch (error) {
    failure = { reason: reasonOf(error), endless: false };
  }
  await new Promise((resolve) => setTimeout(resolve, 5));
  return failure;
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
