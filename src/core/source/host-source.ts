import { WireBoundError } from '../errors.js';
import { asSourceError, checkedRead, checkName, checkSource, isStreamSource } from './check-source.js';
import type { ChunkSource, OpenOptions } from './chunk-source.js';
import { ReadThroughCache } from './read-through-cache.js';
import { SpoolFile } from './spool-file.js';
import { spoolStream } from './spool-stream.js';

/** What a provider opened, ready to be served. */
export interface HostedSource {
  /** Keeps the contract, or throws errors that say who broke it. */
  readonly source: ChunkSource;
  /** Bytes read so far from a remote source; 0 for one on this machine. */
  bytesFetched(): number;
}

/** What hosting a source takes. */
export interface HostOptions extends Pick<OpenOptions, 'name' | 'signal' | 'onProgress'> {
  readonly provider: string;
  readonly reference: string;
  /** Where content that cannot be read twice is kept while it is served. */
  readonly spoolFolder: string;
}

/**
 * Puts the host between a source and its users: checks what it returns, gives it the name that was asked for,
 * takes streams in, and stands a cache in front of a remote source. Throws PLUGIN_FAILED for what no source may
 * be, and what the source itself throws.
 */
export async function hostSource(opened: unknown, options: HostOptions): Promise<HostedSource> {
  if (isStreamSource(opened)) {
    const source = await spoolStream(opened, options);
    return { source: await present(source, options, source.read), bytesFetched: () => 0 };
  }
  checkSource(opened, options);
  const read: ChunkSource['read'] = (offset, into) => checkedRead(opened, options, offset, into);
  if (opened.remote === true) return hostRemote(opened, options, read);
  return { source: await present(opened, options, read), bytesFetched: () => 0 };
}

async function hostRemote(
  opened: ChunkSource,
  options: HostOptions,
  read: ChunkSource['read'],
): Promise<HostedSource> {
  let fetched = 0;
  const changed = new AbortController();
  const fetch: ChunkSource['read'] = async (offset, into) => {
    try {
      const count = await read(offset, into);
      fetched += count;
      return count;
    } catch (error) {
      if (error instanceof WireBoundError && error.code === 'SOURCE_CHANGED') changed.abort(error);
      throw error;
    }
  };
  const presented = await present(opened, options, read);
  const cache = new ReadThroughCache(
    { size: presented.size, read: fetch },
    await SpoolFile.open(options.spoolFolder),
  );
  const source: ChunkSource = {
    ...presented,
    changed: changed.signal,
    read: (offset, into) => cache.read(offset, into),
    close: async () => {
      await cache.close();
      await presented.close();
    },
  };
  return { source, bytesFetched: () => fetched };
}

/** A plain object over the source: a plugin's may have getters, a prototype, or change its mind. */
async function present(
  opened: ChunkSource,
  options: HostOptions,
  read: ChunkSource['read'],
): Promise<ChunkSource> {
  const { size, mtimeMs, executable, description } = opened;
  const name: unknown = options.name ?? opened.name;
  try {
    checkName(name, options);
  } catch (error) {
    await opened.close?.();
    throw error;
  }
  return {
    name,
    size,
    ...(mtimeMs === undefined ? {} : { mtimeMs }),
    ...(executable === undefined ? {} : { executable }),
    ...(description === undefined ? {} : { description }),
    read,
    ...(opened.lend === undefined
      ? {}
      : { lend: async (offset: number, length: number) => opened.lend?.(offset, length) }),
    ...(opened.identity === undefined ? {} : { identity: () => identify(opened, options) }),
    close: async () => opened.close?.(),
  };
}

async function identify(opened: ChunkSource, options: HostOptions) {
  try {
    return await (opened.identity as NonNullable<ChunkSource['identity']>)();
  } catch (error) {
    throw asSourceError(error, options, 'when it was looked at again');
  }
}
