import { systemCode, WireBoundError } from '../errors.js';
import { asSourceError, checkPiece, type SourceLabel } from './check-source.js';
import type { ChunkSource, OpenOptions, StreamSource } from './chunk-source.js';
import { SpoolFile } from './spool-file.js';

/** Where a stream comes from and where it is kept. */
export interface SpoolOptions extends SourceLabel, Pick<OpenOptions, 'signal' | 'onProgress'> {
  readonly spoolFolder: string;
}

/**
 * Takes a stream in, to its end, and returns it as a source of known size. Rejects with SOURCE_UNREADABLE when
 * it fails, is longer or shorter than it said, or does not fit; with the signal's reason when that is aborted.
 */
export async function spoolStream(source: StreamSource, options: SpoolOptions): Promise<ChunkSource> {
  const spool = await SpoolFile.open(options.spoolFolder);
  let size = 0;
  try {
    size = await takeIn(source, spool, options);
  } catch (error) {
    await spool.close();
    options.signal?.throwIfAborted();
    throw error;
  } finally {
    await source.close?.();
  }
  const { name, mtimeMs, executable, description } = source;
  return {
    name,
    size,
    ...(mtimeMs === undefined ? {} : { mtimeMs }),
    ...(executable === undefined ? {} : { executable }),
    description: description === undefined ? 'a copy on disk' : `${description}, a copy on disk`,
    read: (offset, into) => spool.read(offset, into),
    close: () => spool.close(),
  };
}

async function takeIn(source: StreamSource, spool: SpoolFile, options: SpoolOptions): Promise<number> {
  const { signal, onProgress } = options;
  const failed = (error: unknown) => asSourceError(error, options, `after ${size} bytes`);
  let size = 0;
  signal?.throwIfAborted();
  for await (const piece of untilAborted(source.stream, signal, failed)) {
    checkPiece(piece, options);
    if (size + piece.length > (source.size ?? spool.room)) throw tooLong(source, spool.room);
    try {
      await spool.write(piece, size);
    } catch (error) {
      const reason = systemCode(error) === 'ENOSPC' ? 'the disk is full' : systemCode(error);
      throw new WireBoundError(
        'SOURCE_UNREADABLE',
        `there is no place to keep ${source.name} after ${size} bytes: ${reason}`,
        { cause: error },
      );
    }
    size += piece.length;
    onProgress?.(size);
  }
  if (source.size === undefined || size === source.size) return size;
  throw new WireBoundError('SOURCE_UNREADABLE', `${source.name} ended after ${size} of ${source.size} bytes`);
}

function tooLong(source: StreamSource, room: number): WireBoundError {
  const message =
    source.size === undefined
      ? `${source.name} is longer than the ${Math.floor(room)} bytes there is room for`
      : `${source.name} is longer than the ${source.size} bytes it was announced with`;
  return new WireBoundError('SOURCE_UNREADABLE', message);
}

/** The stream's pieces; ends with the signal's reason also while a piece is awaited. */
async function* untilAborted(
  stream: AsyncIterable<Uint8Array>,
  signal: AbortSignal | undefined,
  failed: (error: unknown) => WireBoundError,
): AsyncGenerator<Uint8Array> {
  const iterator = stream[Symbol.asyncIterator]();
  const aborted = new Promise<never>((_, reject) => {
    signal?.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
  aborted.catch(() => undefined);
  try {
    for (;;) {
      const result = await Promise.race([
        iterator.next().catch((error: unknown) => {
          throw failed(error);
        }),
        aborted,
      ]);
      if (result.done === true) return;
      yield result.value;
    }
  } finally {
    // Not awaited: a stream that hangs would hang its end as well.
    void Promise.resolve(iterator.return?.()).catch(() => undefined);
  }
}
