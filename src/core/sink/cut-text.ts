const isContinuation = (byte: number | undefined) => byte !== undefined && (byte & 0xc0) === 0x80;

/**
 * The longest start of `text` that takes at most `maxBytes` bytes in UTF-8 and does not split a character.
 * Lone surrogates come back as U+FFFD, which is what a file system would be given for them.
 */
export function cutText(text: string, maxBytes: number): string {
  const bytes = Buffer.from(text, 'utf8');
  let end = Math.min(bytes.length, maxBytes);
  while (end > 0 && isContinuation(bytes[end])) end--;
  return bytes.toString('utf8', 0, end);
}
