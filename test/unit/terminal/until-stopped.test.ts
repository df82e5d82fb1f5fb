import { EventEmitter, once } from 'node:events';
import { describe, expect, test } from '@jest/globals';
import type { GetResult } from '#dist/core/client/get-event.js';
import type { ServeSummary } from '#dist/core/server/serve-event.js';
import { getUntilStopped } from '#dist/terminal/get-until-stopped.js';
import { serveUntilStopped } from '#dist/terminal/serve-until-stopped.js';

const SUMMARY = { verified: 1 } as ServeSummary;

/** A server that notes what it is told; `finish` ends it. */
function recordingServer() {
  const calls: string[] = [];
  let finish = (_summary: ServeSummary): void => {};
  const finished = new Promise<ServeSummary>((resolve) => {
    finish = resolve;
  });
  return { calls, finish, finished, drain: () => calls.push('drain'), stop: () => calls.push('stop') };
}

/** Starts `server` under signals that the test sends; resolves once they reach the server. */
async function serving(server: ReturnType<typeof recordingServer>) {
  const signals = new EventEmitter();
  const outcome = serveUntilStopped(async () => server, signals);
  await new Promise(setImmediate);
  return { signals, outcome };
}

/** Sends every signal once more; true if each was taken, so that none ends the process by itself. */
function takesSignals(signals: EventEmitter): boolean {
  return ['SIGINT', 'SIGTERM', 'SIGHUP'].every((signal) => signals.emit(signal));
}

describe('serveUntilStopped', () => {
  test('returns the summary of a server that finishes by itself, and ignores signals from then on', async () => {
    const server = recordingServer();
    const { signals, outcome } = await serving(server);
    server.finish(SUMMARY);
    expect(await outcome).toEqual({ summary: SUMMARY, forced: undefined });
    expect(takesSignals(signals)).toBe(true);
    expect(server.calls).toEqual([]);
  });

  test.each(['SIGINT', 'SIGTERM', 'SIGHUP'])('drains at the first %s', async (signal) => {
    const server = recordingServer();
    const { signals, outcome } = await serving(server);
    signals.emit(signal);
    expect(server.calls).toEqual(['drain']);
    server.finish(SUMMARY);
    expect(await outcome).toEqual({ summary: SUMMARY, forced: undefined });
  });

  test.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
    ['SIGHUP', 143],
  ])('stops at a second signal, and more are harmless: %s is exit code %d', async (signal, exitCode) => {
    const server = recordingServer();
    const { signals, outcome } = await serving(server);
    for (const sent of ['SIGINT', signal, 'SIGINT', 'SIGTERM']) signals.emit(sent);
    await new Promise(setImmediate);
    expect(server.calls).toEqual(['drain', 'stop']);
    server.finish(SUMMARY);
    const { summary, forced } = await outcome;
    expect(summary).toBe(SUMMARY);
    expect(forced?.exitCode).toBe(exitCode);
  });

  test('does not wait for a server that does not stop', async () => {
    const server = recordingServer();
    const { signals, outcome } = await serving(server);
    // Keeps the loop alive, as an open socket would.
    const alive = setInterval(() => {}, 1000);
    signals.emit('SIGINT');
    signals.emit('SIGINT');
    const { summary, forced } = await outcome.finally(() => clearInterval(alive));
    expect(summary).toBeUndefined();
    expect(forced?.code).toBe('INTERRUPTED');
  });

  test('rejects at once for a signal before the port is open, even if the start does not heed it', async () => {
    const signals = new EventEmitter();
    let aborted: AbortSignal | undefined;
    const outcome = serveUntilStopped((signal) => {
      aborted = signal;
      return new Promise(() => {});
    }, signals);
    signals.emit('SIGTERM');
    await expect(outcome).rejects.toMatchObject({ code: 'TERMINATED', exitCode: 143 });
    expect(aborted?.aborted).toBe(true);
    expect(takesSignals(signals)).toBe(true);
  });

  test('passes on why a server did not start, and why it broke', async () => {
    const failing = serveUntilStopped(() => Promise.reject(new Error('port in use')), new EventEmitter());
    await expect(failing).rejects.toThrow('port in use');
    const broken = { ...recordingServer(), finished: Promise.reject(new Error('a bug')) };
    broken.finished.catch(() => {});
    await expect(serveUntilStopped(async () => broken, new EventEmitter())).rejects.toThrow('a bug');
  });
});

describe('getUntilStopped', () => {
  const failed = { result: 'FAIL', code: 'CONNECTION_LOST', message: 'cut', partial: '/x' } as GetResult;

  /** A download that ends with `result` when it is aborted. */
  function endingWith(result: GetResult) {
    return async (signal: AbortSignal): Promise<GetResult> => {
      await once(signal, 'abort');
      return result;
    };
  }

  test('passes the result through when no signal came', async () => {
    expect(await getUntilStopped(async () => failed, new EventEmitter())).toBe(failed);
  });

  test('lets the download end after a signal, which is then the reason for its failure', async () => {
    const signals = new EventEmitter();
    const outcome = getUntilStopped(endingWith(failed), signals);
    signals.emit('SIGINT');
    expect(await outcome).toMatchObject({ result: 'FAIL', code: 'INTERRUPTED', partial: '/x' });
    expect(takesSignals(signals)).toBe(true);
  });

  test('keeps what the download itself says about the signal', async () => {
    const signals = new EventEmitter();
    const told = { ...failed, code: 'TERMINATED', message: 'stopped at chunk 3 of 8' } as GetResult;
    const outcome = getUntilStopped(endingWith(told), signals);
    signals.emit('SIGTERM');
    expect(await outcome).toBe(told);
  });

  test('keeps a PASS that a signal came too late for', async () => {
    const signals = new EventEmitter();
    const passed = { result: 'PASS' } as GetResult;
    const outcome = getUntilStopped(endingWith(passed), signals);
    signals.emit('SIGINT');
    expect(await outcome).toBe(passed);
  });

  test('makes the signal the reason when the download throws', async () => {
    const signals = new EventEmitter();
    const outcome = getUntilStopped(async (signal) => {
      await once(signal, 'abort');
      throw new DOMException('aborted', 'AbortError');
    }, signals);
    signals.emit('SIGHUP');
    await expect(outcome).rejects.toMatchObject({ code: 'TERMINATED' });
  });

  test('does not wait after a second signal', async () => {
    const signals = new EventEmitter();
    const outcome = getUntilStopped(() => new Promise<GetResult>(() => {}), signals);
    signals.emit('SIGINT');
    signals.emit('SIGINT');
    await expect(outcome).rejects.toMatchObject({ code: 'INTERRUPTED' });
  });
});
