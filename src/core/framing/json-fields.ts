import { WireBoundError } from '../errors.js';
import { escapeForTerminal } from '../escape.js';

/** As much of a peer's text as an error message shows, characters. */
const MAX_SHOWN = 40;

/** A JSON object from a peer, with the name of the message for errors. */
export interface JsonFields {
  readonly message: string;
  readonly values: ReadonlyMap<string, unknown>;
}

/** Parses UTF-8 JSON that must be an object. Throws PROTOCOL. */
export function parseJson(content: Uint8Array, message: string): JsonFields {
  try {
    return asFields(JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(content)), message);
  } catch (error) {
    if (error instanceof WireBoundError) throw error;
    throw new WireBoundError('PROTOCOL', `${message}: not valid JSON`);
  }
}

/** A value as an object's fields; a Map, so that no name from a peer ever meets a prototype. */
export function asFields(value: unknown, message: string): JsonFields {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new WireBoundError('PROTOCOL', `${message}: not a JSON object`);
  }
  return { message, values: new Map(Object.entries(value)) };
}

export function requireText(fields: JsonFields, name: string, maxLength: number): string {
  const value = fields.values.get(name);
  if (typeof value !== 'string' || value.length > maxLength) {
    throw wrong(fields, name, `a string of at most ${maxLength} characters`);
  }
  return value;
}

export function optionalText(fields: JsonFields, name: string, maxLength: number): string | undefined {
  return fields.values.has(name) ? requireText(fields, name, maxLength) : undefined;
}

/** An integer from 0 to `max`. */
export function requireInteger(fields: JsonFields, name: string, max: number): number {
  const value = fields.values.get(name);
  if (typeof value !== 'number' || !Number.isInteger(value) || value < 0 || value > max) {
    throw wrong(fields, name, `a whole number from 0 to ${max}`);
  }
  return value + 0; // JSON knows -0
}

export function requireBoolean(fields: JsonFields, name: string): boolean {
  const value = fields.values.get(name);
  if (typeof value !== 'boolean') throw wrong(fields, name, 'true or false');
  return value;
}

export function requireArray<T>(
  fields: JsonFields,
  name: string,
  maxLength: number,
  parse: (item: unknown) => T,
): readonly T[] {
  const value = fields.values.get(name);
  if (!Array.isArray(value) || value.length > maxLength) {
    throw wrong(fields, name, `a list of at most ${maxLength} items`);
  }
  return value.map(parse);
}

function wrong(fields: JsonFields, name: string, expected: string): WireBoundError {
  const actual = fields.values.has(name) ? showValue(fields.values.get(name)) : 'missing';
  return new WireBoundError('PROTOCOL', `${fields.message}: ${name} is ${actual}, not ${expected}`);
}

/** A value from a peer as an error message may show it: short, on one line, and never deep. */
export function showValue(value: unknown): string {
  if (typeof value === 'string') {
    return value.length > MAX_SHOWN
      ? `a string of ${value.length} characters`
      : `"${escapeForTerminal(value)}"`;
  }
  if (Array.isArray(value)) return `a list of ${value.length} items`;
  return typeof value === 'object' && value !== null ? 'an object' : String(value);
}
