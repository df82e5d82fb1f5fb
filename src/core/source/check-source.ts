import { isUint8Array } from 'node:util/types';
import { causeLine } from '../cause-line.js';
import { WireBoundError } from '../errors.js';
import { escapeForTerminal } from '../escape.js';
import type { ChunkSource, StreamSource } from './chunk-source.js';

/** Who opened what, for messages. */
export interface SourceLabel {
  readonly provider: string;
  readonly reference: string;
}

/** Whether a provider opened a stream rather than something that can be read anywhere. */
export function isStreamSource(opened: unknown): opened is StreamSource {
  const stream = (opened as { stream?: unknown } | null | undefined)?.stream;
  return (
    typeof (stream as { [Symbol.asyncIterator]?: unknown } | undefined)?.[Symbol.asyncIterator] === 'function'
  );
}

/** Throws PLUGIN_FAILED unless a provider opened a source. */
export function checkSource(opened: unknown, label: SourceLabel): asserts opened is ChunkSource {
  const { read, size } = Object(opened) as Partial<ChunkSource>;
  if (typeof read === 'function' && Number.isSafeInteger(size) && Number(size) >= 0) return;
  throw broken(label, 'without a size or a way to read it');
}

/** Throws PLUGIN_FAILED unless `name` is one path component. */
export function checkName(name: unknown, label: SourceLabel): asserts name is string {
  if (typeof name === 'string' && name !== '' && name !== '.' && name !== '..' && !/[/\0]/.test(name)) return;
  const shown = typeof name === 'string' ? `"${escapeForTerminal(name)}"` : `a name that is ${typeof name}`;
  throw broken(label, `under ${shown} instead of the name of a file`);
}

/** Throws PLUGIN_FAILED when a stream yields anything but bytes. */
export function checkPiece(piece: unknown, label: SourceLabel): asserts piece is Uint8Array {
  if (!isUint8Array(piece)) throw broken(label, `as a stream of ${typeof piece}s instead of bytes`);
}

/**
 * `source.read` within the size that the source stated. Rejects with PLUGIN_FAILED when the count that comes back
 * is none, and with SOURCE_UNREADABLE, naming the place, for errors that are not ours.
 */
export async function checkedRead(
  source: ChunkSource,
  label: SourceLabel,
  offset: number,
  into: Uint8Array,
): Promise<number> {
  const room = into.subarray(0, Math.max(0, source.size - offset));
  let count: unknown;
  try {
    count = await source.read(offset, room);
  } catch (error) {
    throw asSourceError(error, label, `at byte ${offset}`);
  }
  if (Number.isSafeInteger(count) && Number(count) >= 0 && Number(count) <= room.length) return Number(count);
  throw new WireBoundError(
    'PLUGIN_FAILED',
    `source ${label.provider} says that it read ${String(count)} of ${room.length} bytes at ${offset}`,
  );
}

/** What a source threw, as one of our errors. */
export function asSourceError(error: unknown, { reference }: SourceLabel, where: string): WireBoundError {
  if (error instanceof WireBoundError) return error;
  const message = `"${escapeForTerminal(reference)}" cannot be read ${where}: ${causeLine(error)}`;
  return new WireBoundError('SOURCE_UNREADABLE', message, { cause: error });
}

function broken({ provider, reference }: SourceLabel, how: string): WireBoundError {
  const message = `source ${provider} opened "${escapeForTerminal(reference)}" ${how}`;
  return new WireBoundError('PLUGIN_FAILED', message);
}
