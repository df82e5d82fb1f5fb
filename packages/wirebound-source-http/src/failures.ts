import { WireBoundError } from 'wirebound';

/** An error that another request may get over. */
export class TransientError extends Error {
  override readonly name = 'TransientError';
}

/** What a status says of what was asked for; a transient one may be another next time. */
export function statusFailure(label: string, status: number): WireBoundError | TransientError {
  const answer = `${label} answers ${status}`;
  if (status === 404 || status === 410) return new WireBoundError('SOURCE_NOT_FOUND', answer);
  if (status === 412) return changed(label);
  if (status === 401 || status === 403) {
    return new WireBoundError('SOURCE_UNREADABLE', `${answer}: it may not be read without other credentials`);
  }
  if (status === 408 || status === 429 || status >= 500) return new TransientError(answer);
  return new WireBoundError('SOURCE_UNREADABLE', answer);
}

export function changed(label: string): WireBoundError {
  return new WireBoundError('SOURCE_CHANGED', `${label} was changed on its server while it was served`, {
    suggestions: ['run wirebound get again: it will get the new content'],
  });
}

/** Why a request failed, in a few words. */
export function causeOf(error: unknown): string {
  const { message, cause } = error as {
    readonly message?: string;
    readonly cause?: { code?: string; message?: string };
  };
  return cause?.code ?? cause?.message ?? message ?? String(error);
}
