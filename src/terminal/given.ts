/**
 * `{ key: parse(text, flag) }`, or nothing when the flag was not given; to be spread into a request whose
 * optional fields must be absent rather than undefined.
 */
export function given<Key extends string, Value>(
  key: Key,
  text: string | undefined,
  parse: (text: string, flag: string) => Value,
  flag = `--${key}`,
): { readonly [K in Key]?: Value } {
  return text === undefined ? {} : ({ [key]: parse(text, flag) } as { [K in Key]: Value });
}
