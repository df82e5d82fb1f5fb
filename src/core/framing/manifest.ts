import { WireBoundError } from '../errors.js';
import { Geometry } from './geometry.js';
import {
  asFields,
  type JsonFields,
  optionalText,
  parseJson,
  requireArray,
  requireBoolean,
  requireInteger,
  requireText,
  showValue,
} from './json-fields.js';

/** One file on offer. */
export interface ManifestEntry {
  /** What the server calls it; from a peer it may be anything and is made safe before use. */
  readonly path: string;
  /** Bytes. */
  readonly size: number;
  /** Milliseconds since the epoch. */
  readonly mtimeMs?: number;
  readonly executable?: boolean;
  /** Lower-case hex, when the server knows it already. */
  readonly sha256?: string;
}

/** What a server tells a client first. */
export interface Manifest {
  /** One today; directories will have more. */
  readonly entries: readonly [ManifestEntry, ...ManifestEntry[]];
  readonly chunkSize: number;
  /** Codecs that chunks may use; a chunk's codec number counts from 1 into this list. */
  readonly codecs: readonly string[];
  /** Changes when the content on offer does. */
  readonly transfer: string;
}

export function encodeManifest(manifest: Manifest): Uint8Array {
  return Buffer.from(JSON.stringify(manifest));
}

/** Checks everything in a Manifest from a peer, its geometry included; `offered` is what the client can decode. */
export function parseManifest(content: Uint8Array, offered: readonly string[]): Manifest {
  const fields = parseJson(content, 'manifest');
  const chunkSize = requireInteger(fields, 'chunkSize', Number.MAX_SAFE_INTEGER);
  const [first, ...rest] = requireArray(fields, 'entries', 1, (item) =>
    parseEntry(asFields(item, 'manifest entry')),
  );
  if (first === undefined) throw new WireBoundError('PROTOCOL', 'manifest: no entries');
  new Geometry(first.size, chunkSize);
  const codecs = requireArray(fields, 'codecs', 64, (item) => {
    if (typeof item !== 'string' || !offered.includes(item)) {
      throw new WireBoundError('PROTOCOL', `manifest: unknown codec ${showValue(item)}`);
    }
    return item;
  });
  return { entries: [first, ...rest], chunkSize, codecs, transfer: requireText(fields, 'transfer', 64) };
}

function parseEntry(fields: JsonFields): ManifestEntry {
  const sha256 = optionalText(fields, 'sha256', 64)?.toLowerCase();
  if (sha256 !== undefined && !/^[0-9a-f]{64}$/.test(sha256)) {
    throw new WireBoundError('PROTOCOL', 'manifest entry: sha256 is not 64 hex digits');
  }
  return {
    path: requireText(fields, 'path', 4096),
    size: requireInteger(fields, 'size', Number.MAX_SAFE_INTEGER),
    ...(fields.values.has('mtimeMs') ? { mtimeMs: requireInteger(fields, 'mtimeMs', 8.64e15) } : {}),
    ...(fields.values.has('executable') ? { executable: requireBoolean(fields, 'executable') } : {}),
    ...(sha256 === undefined ? {} : { sha256 }),
  };
}
