/** Whether `--json` is on the command line; for failures that come before it is parsed. */
export function isJsonAsked(argv: readonly string[]): boolean {
  const end = argv.indexOf('--');
  return argv.slice(0, end === -1 ? undefined : end).includes('--json');
}
