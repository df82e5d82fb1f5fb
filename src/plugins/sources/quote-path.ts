/** Control characters that JSON leaves alone, and those that turn the direction of text around. */
const UNPRINTABLE = /[\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/** A path in double quotes, on one line, with nothing in it that a terminal would obey. */
export function quotePath(path: string): string {
  return JSON.stringify(path).replace(
    UNPRINTABLE,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
