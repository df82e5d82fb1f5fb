import { type ErrorCode, WireBoundError } from 'wirebound';

/** What the AWS SDK throws. */
interface ServiceFailure {
  readonly name?: string;
  readonly message?: string;
  readonly code?: string;
  readonly $metadata?: { readonly httpStatusCode?: number };
}

const CODES: Readonly<Record<number, readonly [ErrorCode, string]>> = {
  403: ['SOURCE_UNREADABLE', 'may not be read with these credentials'],
  404: ['SOURCE_NOT_FOUND', 'does not exist'],
  412: ['SOURCE_CHANGED', 'was replaced while it was served'],
  416: ['SOURCE_CHANGED', 'was replaced while it was served'],
};

/** What the service says, in our words; `label` is the reference. */
export function serviceFailure(label: string, error: unknown): WireBoundError {
  if (error instanceof WireBoundError) return error;
  const { name, message, code, $metadata } = Object(error) as ServiceFailure;
  const status = $metadata?.httpStatusCode ?? 0;
  const known = CODES[status];
  if (known !== undefined)
    return new WireBoundError(known[0], `${label} ${known[1]} (${status})`, { cause: error });
  if (name === 'CredentialsProviderError') {
    return new WireBoundError('SOURCE_UNREADABLE', `${label} cannot be read without credentials`, {
      cause: error,
      suggestions: ['set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE'],
    });
  }
  const reason = code ?? message?.split('\n')[0] ?? String(error);
  return new WireBoundError('SOURCE_UNREADABLE', `${label} cannot be read: ${reason}`, { cause: error });
}

export function replaced(label: string): WireBoundError {
  return new WireBoundError('SOURCE_CHANGED', `${label} was replaced while it was served`, {
    suggestions: ['run wirebound get again: it will get the new content'],
  });
}
