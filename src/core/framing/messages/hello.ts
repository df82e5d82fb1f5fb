import { WireBoundError } from '../../errors.js';
import { parseJson, requireArray, requireText, showValue } from '../json-fields.js';

/** What a client says first. */
export interface Hello {
  /** Program and version, for people. */
  readonly agent: string;
  /** Names of the codecs it can decode. */
  readonly codecs: readonly string[];
  /** One `get`, however often it reconnects: 32 hex digits. */
  readonly run: string;
}

export function encodeHello(hello: Hello): Uint8Array {
  return Buffer.from(JSON.stringify(hello));
}

export function parseHello(content: Uint8Array): Hello {
  const fields = parseJson(content, 'hello');
  const run = requireText(fields, 'run', 32);
  if (!/^[0-9a-f]{32}$/.test(run)) {
    throw new WireBoundError('PROTOCOL', `hello: run is ${showValue(run)}, not 32 lower-case hex digits`);
  }
  return {
    agent: requireText(fields, 'agent', 100),
    codecs: requireArray(fields, 'codecs', 64, codecName),
    run,
  };
}

function codecName(value: unknown): string {
  if (typeof value !== 'string' || !/^[a-z0-9][a-z0-9-]{0,31}$/.test(value)) {
    throw new WireBoundError(
      'PROTOCOL',
      `hello: codec name ${showValue(value)} is not 1 to 32 lower-case letters, digits and "-"`,
    );
  }
  return value;
}
