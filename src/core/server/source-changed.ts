import { WireBoundError } from '../errors.js';
import type { SourceIdentity } from '../source/chunk-source.js';

/** SOURCE_CHANGED for a file of which the bytes are others now. */
export function sourceChanged(name: string): WireBoundError {
  return new WireBoundError('SOURCE_CHANGED', `${name} was changed while it was served`, {
    suggestions: ['run wirebound get again: it will get the new content'],
  });
}

/** Throws SOURCE_CHANGED when a file on offer with `size` bytes has become shorter. */
export function requireWhole(name: string, size: number, identity: SourceIdentity | undefined): void {
  const left = identity?.size ?? size;
  if (left >= size) return;
  throw new WireBoundError(
    'SOURCE_CHANGED',
    `${name} was truncated to ${left} of ${size} bytes while it was served`,
    { suggestions: ['start wirebound serve again once the file is complete'] },
  );
}
