import { quotePath } from './quote-path.js';

/** A path as one word of a shell command line; `PATH` where it cannot be shown as it is. */
export function shellWord(path: string): string {
  const word = path.length > 1 ? path.replace(/\/+$/, '') : path;
  if (/^[\w./@%+=:,][\w./@%+=:,-]*$/.test(word)) return word;
  if (quotePath(word) !== JSON.stringify(word) || /\p{Cc}/u.test(word)) return 'PATH';
  const safe = word.startsWith('-') ? `./${word}` : word;
  return `'${safe.replaceAll("'", `'\\''`)}'`;
}
