import type { Codec } from '../codec/codec.js';
import type { CodecRegistry } from '../codec/codec-registry.js';
import type { ChainCache } from '../digest/chain-cache.js';
import type { OpenOptions } from '../source/chunk-source.js';
import type { OpenedSource, SourceRegistry } from '../source/source-registry.js';
import { usableMemory } from '../usable-memory.js';
import { FileServer } from './file-server.js';
import { checkPort } from './open-listener.js';
import type { ServeEvent, ServeSummary } from './serve-event.js';
import type { ServeLimits } from './serve-limits.js';
import { Shelf } from './shelf.js';

/** What to serve, and how. */
export interface OpenServerOptions {
  /** A path, `-`, or whatever a registered source accepts. */
  readonly reference: string;
  /** `auto`, or the name of a source. */
  readonly source: string;
  /** Announce this name instead of the source's own. */
  readonly name?: string;
  /** Bytes. */
  readonly chunkSize: number;
  /** Name of a codec; `none` sends everything raw, `auto` decides per client and chunk among all there are. */
  readonly codec: string;
  /** Bytes for encoded and read chunks that clients share. */
  readonly cacheBytes: number;
  readonly port: number;
  readonly host?: string;
  readonly maxClients?: number;
  readonly until?: number;
  readonly bytesPerSecond?: number;
  readonly rehash: boolean;
  /** Bytes for content that has to be held in memory; half of what the machine, or its container, has unless given. */
  readonly memoryLimit?: number;
  readonly limits?: Partial<ServeLimits>;
  readonly codecs: CodecRegistry;
  readonly sources: SourceRegistry;
  /** Undefined: chains are not kept. */
  readonly cache?: ChainCache;
  /** Cancels everything before the port is open. */
  readonly signal: AbortSignal;
  readonly onEvent: (event: ServeEvent) => void;
}

/** A server whose port is open. */
export interface OpenServer {
  drain(): void;
  stop(): void;
  readonly finished: Promise<ServeSummary>;
}

/**
 * Opens the source, then the port; hashing begins behind it. Throws before anything is left open: the SOURCE
 * family, CODEC_UNKNOWN, CODEC_UNAVAILABLE, PORT_IN_USE, LISTEN_FAILED, or the signal's reason.
 */
export async function openServer(options: OpenServerOptions): Promise<OpenServer> {
  const { reference, chunkSize, signal, onEvent } = options;
  const codecs = chosenCodecs(options.codec, options.codecs);
  const opening: OpenOptions = {
    ...(options.name === undefined ? {} : { name: options.name }),
    memoryLimit: options.memoryLimit ?? Math.floor(usableMemory() / 2),
    signal,
    onProgress: (bytes) => onEvent({ event: 'reading', bytes }),
  };
  const opened: OpenedSource[] = [];
  const open = async () => {
    const next = await options.sources.open(reference, options.source, opening);
    opened.push(next);
    return next;
  };
  await checkPort(options.port, options.host);
  const { source, reason } = await open();
  const shelf = new Shelf({
    source,
    reopen: async () => (await open()).source,
    chunkSize,
    codecs,
    cacheBytes: options.cacheBytes,
    encodeTimeoutMs: options.limits?.encodeTimeoutMs,
    cache: options.cache,
    rehash: options.rehash,
    observer: {
      digestKnown: (sha256, cached) => {
        server.digestKnown(sha256);
        onEvent({ event: 'digest', sha256, cached });
      },
      progress: (bytes, size) => onEvent({ event: 'hashing', bytes, size }),
      warn: (message) => onEvent({ event: 'warning', message }),
    },
  });
  const described = {
    name: source.name,
    size: source.size,
    chunkSize,
    source: source.description === undefined ? reason : `${reason} (${source.description})`,
  };
  const server = new FileServer(shelf, {
    ...options,
    codecs: { names: codecs.map(({ name }) => name), automatic: options.codec === 'auto' },
    described,
    bytesFetched: () => opened.reduce((sum, each) => sum + each.bytesFetched(), 0),
  });
  try {
    signal.throwIfAborted();
    await server.start();
  } catch (error) {
    await shelf.close();
    throw error;
  }
  return { drain: () => server.drain(), stop: () => void server.stop(), finished: server.finished };
}

function chosenCodecs(choice: string, registry: CodecRegistry): readonly Codec[] {
  if (choice === 'none') return [];
  const names = choice === 'auto' ? registry.names().filter((name) => name !== 'none') : [choice];
  return names.map((name) => registry.get(name).codec);
}
