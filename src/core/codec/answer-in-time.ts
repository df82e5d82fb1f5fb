/** How long a codec may take over one chunk, milliseconds: far longer than one that is of any use needs. */
export const CODEC_DEADLINE_MS = 30_000;

/** A codec has not answered in time; it may still be at work on the memory it was given. */
export class NoAnswer extends Error {
  override readonly name = 'NoAnswer';

  constructor(deadlineMs: number) {
    super(`it did not answer within ${deadlineMs / 1000} s`);
  }
}

/**
 * Waits for what a codec has promised, `deadlineMs` at most; then rejects with {@link NoAnswer}. A codec cannot be
 * cancelled: without this one that never answers would keep everyone waiting for ever.
 */
export async function answerInTime<T>(answer: PromiseLike<T>, deadlineMs: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const overdue = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new NoAnswer(deadlineMs)), deadlineMs);
    timer.unref(); // whoever waits has a socket or a thread that keeps the process alive
  });
  try {
    return await Promise.race([answer, overdue]);
  } finally {
    clearTimeout(timer);
  }
}

/** Whether a codec has promised something instead of returning it. */
export function isPromised(value: unknown): value is PromiseLike<unknown> {
  return typeof (value as { then?: unknown } | null | undefined)?.then === 'function';
}
