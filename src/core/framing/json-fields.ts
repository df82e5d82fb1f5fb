import { WireBoundError } from '../errors.js';

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
  return value;
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
  return new WireBoundError('PROTOCOL', `${fields.message}: ${name} is not ${expected}`);
}
