import { Worker } from 'node:worker_threads';
import { causeLine } from '../core/cause-line.js';
import { installedUrl } from '../core/installed-url.js';
import type { CheckJob, CheckMessage } from './check-job.js';
import type { CodecFigures } from './codec-speed.js';
import type { CaseResult } from './run-contract.js';

/** How long the thread may stay silent while no case runs: to start, to load, to measure; milliseconds. */
const PREPARATION_MS = 30_000;
/** How much longer than a case may take the thread may stay silent while one runs, milliseconds. */
const GRACE_MS = 2_000;

/** Told of everything as it happens. */
export interface SubjectObserver {
  result(result: CaseResult): void;
  figures(figures: readonly CodecFigures[]): void;
}

/**
 * Checks one codec or source in a thread of its own, which it may block or end: that breaks the case that was
 * running, and the next one gets a new thread. Never rejects.
 */
export async function checkSubject(job: Omit<CheckJob, 'skip'>, observer: SubjectObserver): Promise<void> {
  let titles: readonly string[] = [];
  let done = 0;
  const report = (result: CaseResult) => {
    done++;
    observer.result(result);
  };
  for (;;) {
    const end = await runThread({ ...job, skip: done }, (message) => {
      if (message.kind === 'plan') titles = message.titles;
      if (message.kind === 'result') report(message.result);
      if (message.kind === 'figures') observer.figures(message.figures);
    });
    if (end.kind === 'done') return;
    const title = end.title ?? titles[done] ?? 'it can be opened';
    report({ title, outcome: 'broken', reason: end.reason });
    if (end.kind === 'blocked' || end.title === undefined) break;
    if (done >= titles.length) return;
  }
  for (const title of titles.slice(done))
    report({ title, outcome: 'not run', reason: 'the thread was lost' });
}

type ThreadEnd =
  | { readonly kind: 'done' }
  | { readonly kind: 'died' | 'blocked'; readonly title: string | undefined; readonly reason: string };

function runThread(job: CheckJob, onMessage: (message: CheckMessage) => void): Promise<ThreadEnd> {
  // What a plugin prints would stand between the lines of a report.
  const worker = new Worker(installedUrl('testing/check-worker.js'), {
    workerData: job,
    stdout: true,
    stderr: true,
    name: 'check',
  });
  worker.stdout.resume();
  worker.stderr.resume();
  return new Promise((resolve) => {
    let title: string | undefined;
    let ended = false;
    let watchdog: NodeJS.Timeout | undefined;
    const finish = (end: ThreadEnd) => {
      clearTimeout(watchdog);
      void worker.terminate();
      resolve(end);
    };
    const watch = () => {
      clearTimeout(watchdog);
      const silence = title === undefined ? PREPARATION_MS : job.timeoutMs + GRACE_MS;
      watchdog = setTimeout(() => {
        const seconds = Math.round(silence / 1000);
        finish({ kind: 'blocked', title, reason: `it blocked its thread for more than ${seconds} s` });
      }, silence);
    };
    watch();
    worker.on('message', (message: CheckMessage) => {
      if (message.kind === 'start') title = message.title;
      if (message.kind === 'result') title = undefined;
      if (message.kind === 'end') ended = true;
      watch();
      onMessage(message);
    });
    worker.on('error', (error) => finish({ kind: 'died', title, reason: causeLine(error) }));
    worker.on('exit', (code) => {
      finish(
        ended
          ? { kind: 'done' }
          : { kind: 'died', title, reason: `it ended its process (exit code ${code})` },
      );
    });
  });
}
