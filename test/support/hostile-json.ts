/**
 * JSON texts that a peer may put where a number, a string or a list belongs, as text because some of them
 * cannot be written as values. None is a whole number from 0 up, a string of 32 hex digits, or a list.
 */
export const HOSTILE_JSON: readonly (readonly [title: string, json: string])[] = [
  'null',
  '-1',
  '1.5',
  '-1e400',
  '1e400',
  '9007199254740993',
  '"NaN"',
  '"0x10"',
  '"\\u0000\\u001b[31m\\u202e"',
  '"\\ud800"',
  'true',
  '{}',
  '{"__proto__":{"length":1}}',
  '{"length":1,"0":"lz4"}',
  deepList(10_000),
].map((json) => [json.slice(0, 32), json]);

/** `[[[...]]]`, `depth` lists deep. */
export function deepList(depth: number): string {
  return '['.repeat(depth) + ']'.repeat(depth);
}

/** The JSON object `fields` (texts of JSON by name) as a peer would send it. */
export function jsonObject(fields: Readonly<Record<string, string | undefined>>): Buffer {
  const members = Object.entries(fields).flatMap(([name, json]) =>
    json === undefined ? [] : [`${JSON.stringify(name)}:${json}`],
  );
  return Buffer.from(`{${members.join(',')}}`);
}
