import type { PluginReference, RunningServer, ServeRequest } from '../composition.js';
import { WireBoundError } from '../core/errors.js';
import { CHUNK_SIZE_STEP, MAX_CHUNK_SIZE, MIN_CHUNK_SIZE } from '../core/framing/geometry.js';
import type { ListenAddress, ServeEvent } from '../core/server/serve-event.js';
import { checkNumber } from './check-number.js';
import { followSignal } from './interruption.js';

/** What is served, and how. Everything but `file` may be left out; the defaults are those of `wirebound serve`. */
export interface ServeFileOptions {
  /** A path, or whatever a source plugin accepts; `-` is standard input. */
  readonly file: string;
  /** Default 6767; 0 picks a free one. */
  readonly port?: number | undefined;
  /** The address to listen on; all interfaces unless given. */
  readonly host?: string | undefined;
  /** `auto` (the default: per client, only while that is faster), `none`, or the name of a codec. */
  readonly codec?: string | undefined;
  /** Bytes: a multiple of 4096 from 65536 to 16777216; default 262144. */
  readonly chunkSize?: number | undefined;
  /** Memory for compressed chunks that clients share, bytes; default 256 MiB. */
  readonly cacheBytes?: number | undefined;
  /** `auto` (the default) or the name of a source. */
  readonly source?: string | undefined;
  /** What clients call the file: one path component. */
  readonly name?: string | undefined;
  /** Most clients at the same time. */
  readonly maxClients?: number | undefined;
  /** Drain by itself once so many clients have verified. */
  readonly until?: number | undefined;
  /** For all clients together. */
  readonly bytesPerSecond?: number | undefined;
  /** Hash the file again even if its SHA-256 is known from before. */
  readonly rehash?: boolean | undefined;
  /** Most memory for content that has to be held, bytes; half of what the machine, or the container, has unless given. */
  readonly memoryLimit?: number | undefined;
  /** Plugins made with `definePlugin`, or modules that export one: a path, a URL, a package. */
  readonly plugins?: readonly PluginReference[] | undefined;
  /** Cancels the opening; after that it stops the server at once. */
  readonly signal?: AbortSignal | undefined;
  /** Called with everything that happens, in order; `wirebound serve --json` prints the same objects. */
  readonly onEvent?: ((event: ServeEvent) => void) | undefined;
}

/** A server whose port is open. It keeps the process alive until it has finished. */
export interface ServedFile extends RunningServer {
  readonly port: number;
  /** Where clients can reach it; the addresses for other machines come first. */
  readonly addresses: readonly ListenAddress[];
}

/** What stands in for options that are not given; the same as the defaults of `wirebound serve`. */
export const SERVE_DEFAULTS = {
  codec: 'auto',
  cacheBytes: 256 * 1024 * 1024,
  chunkSize: 256 * 1024,
  port: 6767,
  source: 'auto',
} as const;

/**
 * Serves one file until it is drained or stopped; resolves once clients can connect. Rejects with a
 * WireBoundError, and leaves nothing open then: USAGE, the SOURCE, CODEC and PLUGIN families, PORT_IN_USE,
 * LISTEN_FAILED, or INTERRUPTED where the signal was aborted before.
 */
export async function serveFile(options: ServeFileOptions): Promise<ServedFile> {
  const request = toRequest(options);
  const interruption = followSignal(options.signal);
  let listening: Listening | undefined;
  const onEvent = (event: ServeEvent) => {
    if (event.event === 'listening') listening = event;
    options.onEvent?.(event);
  };
  try {
    const { compose } = await import('../composition.js');
    const app = await compose({ plugins: options.plugins ?? [] });
    const server = await app.serve({ ...request, onEvent }, interruption.signal);
    const { port, addresses } = listening as unknown as Listening; // told before `serve` resolves
    const stop = () => server.stop();
    interruption.signal.addEventListener('abort', stop, { once: true });
    if (interruption.signal.aborted) stop();
    void server.finished.then(interruption.end);
    return { port, addresses, drain: () => server.drain(), stop, finished: server.finished };
  } catch (error) {
    interruption.end();
    throw error;
  }
}

type Listening = Extract<ServeEvent, { event: 'listening' }>;

function toRequest(options: ServeFileOptions): Omit<ServeRequest, 'onEvent'> {
  const { codec, cacheBytes, chunkSize, port, source } = SERVE_DEFAULTS;
  const request = {
    reference: options.file,
    codec: options.codec ?? codec,
    cacheBytes: options.cacheBytes ?? cacheBytes,
    chunkSize: options.chunkSize ?? chunkSize,
    port: options.port ?? port,
    source: options.source ?? source,
    rehash: options.rehash ?? false,
    ...present('memoryLimit', options.memoryLimit),
    ...present('host', options.host),
    ...present('name', options.name),
    ...present('maxClients', options.maxClients),
    ...present('until', options.until),
    ...present('bytesPerSecond', options.bytesPerSecond),
  };
  check(request);
  return request;
}

function present<Key extends string, Value>(
  key: Key,
  value: Value | undefined,
): { readonly [K in Key]?: Value } {
  return value === undefined ? {} : ({ [key]: value } as { [K in Key]: Value });
}

function check(request: Omit<ServeRequest, 'onEvent'>): void {
  const { reference, name, port, chunkSize, cacheBytes, memoryLimit, maxClients, until, bytesPerSecond } =
    request;
  if (typeof reference !== 'string' || reference === '') throw usage('file names nothing to serve');
  if (name !== undefined && (!/^[^/\0]+$/.test(name) || /^(\s*|\.\.?)$/.test(name))) {
    throw usage(`name ${JSON.stringify(name)} is not a file name: give one name without a folder`);
  }
  checkNumber('port', port, { from: 0, to: 65535 });
  checkNumber('chunkSize', chunkSize, { from: MIN_CHUNK_SIZE, to: MAX_CHUNK_SIZE, step: CHUNK_SIZE_STEP });
  checkNumber('cacheBytes', cacheBytes, { from: 1, to: Number.MAX_SAFE_INTEGER });
  for (const [option, value] of Object.entries({ memoryLimit, maxClients, until, bytesPerSecond })) {
    if (value !== undefined) checkNumber(option, value, { from: 1, to: Number.MAX_SAFE_INTEGER });
  }
}

function usage(message: string): WireBoundError {
  return new WireBoundError('USAGE', message);
}
