/** What tells one content behind a URL from another. */
export interface Validator {
  readonly etag: string | undefined;
  readonly lastModified: string | undefined;
}

/** The validator of a response. */
export function validatorOf(headers: Headers): Validator {
  return {
    etag: headers.get('etag') ?? undefined,
    lastModified: headers.get('last-modified') ?? undefined,
  };
}

/** Headers that make a server refuse (412) once the content is another. */
export function preconditions({ etag, lastModified }: Validator): Readonly<Record<string, string>> {
  // Only a strong ETag may be asked for with If-Match (RFC 9110, 13.1.1).
  if (etag !== undefined && !etag.startsWith('W/')) return { 'if-match': etag };
  return lastModified === undefined ? {} : { 'if-unmodified-since': lastModified };
}

/** Whether a response is of the same content, as far as it says; for servers that do not look at preconditions. */
export function isSame(known: Validator, headers: Headers): boolean {
  const { etag, lastModified } = validatorOf(headers);
  if (known.etag !== undefined && etag !== undefined) return etag === known.etag;
  return (
    known.lastModified === undefined || lastModified === undefined || lastModified === known.lastModified
  );
}
