const UNPRINTABLE = /[\p{Cc}\p{Cs}\u202a-\u202e\u2066-\u2069]/gu;

/**
 * `text` as it may be shown on a terminal or in a log: control characters (C0, DEL, C1) become `\xNN`; bidi
 * overrides, embeddings and isolates, and lone surrogates become `\uNNNN`. Everything else stays as it is.
 * Everything that comes from a peer goes through here before it is printed; it is not meant to be reversed.
 */
export function escapeForTerminal(text: string): string {
  return text.replace(UNPRINTABLE, (character) => {
    const hex = character.charCodeAt(0).toString(16);
    return hex.length > 2 ? `\\u${hex.padStart(4, '0')}` : `\\x${hex.padStart(2, '0')}`;
  });
}
