/** `1 chunk`, `2 chunks`, `19200 chunks`: a count with its regular English noun. */
export function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
