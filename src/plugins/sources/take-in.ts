import { addAbortSignal, type Readable } from 'node:stream';
import { WireBoundError } from '../../core/errors.js';
import type { OpenOptions } from '../../core/source/chunk-source.js';
import { MemoryContent } from './memory-content.js';
import type { RegularFile } from './regular-file.js';

/**
 * Reads a stream to its end; the producer waits while memory is being filled. Throws USAGE for a terminal,
 * SOURCE_TOO_LARGE beyond the limit, SOURCE_UNREADABLE when the stream fails.
 */
export async function takeInStream(
  stream: Readable & { readonly isTTY?: boolean },
  options: OpenOptions,
): Promise<MemoryContent> {
  if (stream.isTTY === true) {
    throw new WireBoundError('USAGE', 'standard input is a terminal; pipe something into wirebound serve -');
  }
  refuseWhenAborted(options.signal);
  if (options.signal !== undefined) addAbortSignal(options.signal, stream);
  const content = new MemoryContent();
  try {
    for await (const piece of stream as AsyncIterable<Uint8Array>) {
      if (content.size + piece.length > options.memoryLimit) throw tooLarge('standard input', options);
      content.append(piece);
      options.onProgress?.(content.size);
    }
  } catch (error) {
    refuseWhenAborted(options.signal);
    if (error instanceof WireBoundError) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw new WireBoundError(
      'SOURCE_UNREADABLE',
      `standard input failed after ${content.size} bytes (${reason})`,
      { cause: error },
    );
  }
  return content;
}

/**
 * Reads a whole file. Throws SOURCE_TOO_LARGE before anything is read, SOURCE_CHANGED when the file was
 * written to meanwhile.
 */
export async function takeInFile(file: RegularFile, options: OpenOptions): Promise<MemoryContent> {
  if (file.size > options.memoryLimit) throw tooLarge(`${file.label}, ${file.size} bytes,`, options);
  const before = await file.identity();
  const content = new MemoryContent();
  while (content.size < file.size) {
    refuseWhenAborted(options.signal);
    const length = await file.read(content.size, content.room);
    if (length === 0) break;
    content.grow(length);
    options.onProgress?.(content.size);
  }
  if ((await file.identity()).key !== before.key || content.size !== file.size) {
    throw new WireBoundError('SOURCE_CHANGED', `${file.label} was changed while it was being read`);
  }
  return content;
}

function tooLarge(what: string, { memoryLimit }: OpenOptions): WireBoundError {
  return new WireBoundError(
    'SOURCE_TOO_LARGE',
    `${what} is larger than the ${memoryLimit} bytes of memory it may take`,
    { suggestions: ['allow more with --memory SIZE, or serve a file'] },
  );
}

function refuseWhenAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted !== true) return;
  if (signal.reason instanceof WireBoundError) throw signal.reason;
  throw new WireBoundError('INTERRUPTED', 'stopped while the source was being opened', {
    cause: signal.reason,
  });
}
