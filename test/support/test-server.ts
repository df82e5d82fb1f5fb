import type { ClientRunOptions } from '#dist/core/client/client-run.js';
import type { GetEvent } from '#dist/core/client/get-event.js';
import { type GetFileOptions, getFile } from '#dist/core/client/get-file.js';
import type { GetLimits } from '#dist/core/client/get-limits.js';
import type { VerifyEvent } from '#dist/core/client/verify-event.js';
import { type VerifyFileOptions, verifyFile } from '#dist/core/client/verify-file.js';
import { CodecRegistry } from '#dist/core/codec/codec-registry.js';
import { type OpenServerOptions, openServer } from '#dist/core/server/open-server.js';
import type { ServeEvent, ServeSummary } from '#dist/core/server/serve-event.js';
import { SourceRegistry } from '#dist/core/source/source-registry.js';

const PLUGINS = new URL('../../dist/plugins/', import.meta.url);

/** A server in this process. */
export interface TestServer {
  readonly port: number;
  readonly events: ServeEvent[];
  /** Resolves to the first event, past or to come, of that name that `accept` takes. */
  event<Name extends ServeEvent['event']>(
    name: Name,
    accept?: (event: Extract<ServeEvent, { event: Name }>) => boolean,
  ): Promise<Extract<ServeEvent, { event: Name }>>;
  drain(): void;
  /** Ends it at once. */
  stop(): Promise<ServeSummary>;
  readonly finished: Promise<ServeSummary>;
}

let registries: Promise<{ codecs: CodecRegistry; sources: SourceRegistry }> | undefined;

/** Serves `reference` on a free loopback port with the built-in plugins; no cache of chains. */
export async function openTestServer(
  reference: string,
  options: Partial<OpenServerOptions> = {},
): Promise<TestServer> {
  const events: ServeEvent[] = [];
  const waiting = new Set<() => void>();
  const server = await openServer({
    reference,
    source: 'auto',
    chunkSize: 64 * 1024,
    codec: 'none',
    cacheBytes: 64 * 2 ** 20,
    port: 0,
    host: '127.0.0.1',
    rehash: false,
    memoryLimit: 2 ** 30,
    ...(await builtIns()),
    signal: new AbortController().signal,
    ...options,
    onEvent: (event) => {
      events.push(event);
      for (const look of [...waiting]) look();
    },
  });
  const listening = events.find((event) => event.event === 'listening');
  return {
    port: listening?.event === 'listening' ? listening.port : 0,
    events,
    event: (name, accept = () => true) =>
      new Promise((resolve) => {
        const look = () => {
          for (const event of events) {
            if (event.event !== name || !accept(event as never)) continue;
            waiting.delete(look);
            resolve(event as never);
            return;
          }
          waiting.add(look);
        };
        look();
      }),
    drain: () => server.drain(),
    async stop() {
      server.stop();
      return server.finished;
    },
    finished: server.finished,
  };
}

/** Options of a `get` or `verify` in this process that loses no time between attempts. */
export async function clientOptions(
  port: number,
  limits: Partial<GetLimits> = {},
): Promise<ClientRunOptions> {
  const { codecs } = await builtIns();
  return {
    target: { host: '127.0.0.1', port },
    waitMs: 0,
    retryForMs: 30_000,
    codecs: ['lz4', 'deflate'].map((name) => codecs.get(name)),
    agent: 'test/1',
    signal: new AbortController().signal,
    limits: { leastBackoffMs: 1, mostBackoffMs: 20, ...limits },
  };
}

/** Runs a `get` in this process; `events` fills up meanwhile. */
export async function testGet(
  port: number,
  options: Partial<GetFileOptions> & { readonly limits?: Partial<GetLimits> } = {},
  events: GetEvent[] = [],
) {
  const onEvent = (event: GetEvent) => events.push(event);
  const common = await clientOptions(port, options.limits);
  return getFile({
    force: false,
    output: '/dev/null',
    onEvent,
    ...common,
    ...options,
    limits: common.limits ?? {},
  });
}

/** Runs a `verify` in this process. */
export async function testVerify(
  port: number,
  path: string,
  options: Partial<VerifyFileOptions> & { readonly limits?: Partial<GetLimits> } = {},
  events: VerifyEvent[] = [],
) {
  const onEvent = (event: VerifyEvent) => events.push(event);
  const common = await clientOptions(port, options.limits);
  return verifyFile({ path, repair: false, onEvent, ...common, ...options, limits: common.limits ?? {} });
}

function builtIns() {
  registries ??= loadBuiltIns();
  return registries;
}

async function loadBuiltIns() {
  const codecs = new CodecRegistry();
  const sources = new SourceRegistry();
  for (const name of [
    'codecs/none',
    'codecs/lz4',
    'codecs/deflate',
    'sources/mmap',
    'sources/file',
    'sources/memory',
  ]) {
    const module = new URL(`${name}.js`, PLUGINS).href;
    const { default: plugin } = await import(module);
    for (const codec of plugin.codecs ?? []) codecs.register(codec, { origin: 'built-in', module });
    for (const provider of plugin.sources ?? []) sources.register(provider, 'built-in');
  }
  return { codecs, sources };
}
