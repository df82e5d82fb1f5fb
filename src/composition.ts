import 'reflect-metadata';
import { homedir } from 'node:os';
import { container, type DependencyContainer, type InjectionToken, instanceCachingFactory } from 'tsyringe';
import type { GetEvent, GetResult } from './core/client/get-event.js';
import { getFile } from './core/client/get-file.js';
import { type CodecListing, CodecRegistry } from './core/codec/codec-registry.js';
import { ChainCache } from './core/digest/chain-cache.js';
import { defaultCacheFolder } from './core/digest/default-cache-folder.js';
import { checkPlugin, loadPlugin } from './core/plugin/load-plugin.js';
import type { Plugin } from './core/plugin/plugin.js';
import { resolvePlugin } from './core/plugin/resolve-plugin.js';
import { openServer } from './core/server/open-server.js';
import type { ServeEvent, ServeSummary } from './core/server/serve-event.js';
import { type SourceListing, SourceRegistry } from './core/source/source-registry.js';
import { version } from './version.js';

/** What `wirebound serve` asks for. */
export interface ServeRequest {
  /** A path, `-`, or whatever a source plugin accepts. */
  readonly reference: string;
  /** `auto`, `none`, or the name of a codec. */
  readonly codec: string;
  /** Bytes for encoded and read chunks that clients share. */
  readonly cacheBytes: number;
  /** Bytes. */
  readonly chunkSize: number;
  /** 0 picks one. */
  readonly port: number;
  /** Undefined: all interfaces. */
  readonly host?: string;
  /** `auto`, or the name of a source. */
  readonly source: string;
  readonly name?: string;
  readonly maxClients?: number;
  readonly until?: number;
  readonly bytesPerSecond?: number;
  /** Does not trust the digests kept from earlier runs. */
  readonly rehash: boolean;
  /** Bytes for content that has to be held in memory. */
  readonly memoryLimit: number;
  readonly onEvent: (event: ServeEvent) => void;
}

/** A server whose port is open. */
export interface RunningServer {
  /** Takes no new runs; `finished` resolves when the open ones have ended. */
  drain(): void;
  /** Ends now. */
  stop(): void;
  readonly finished: Promise<ServeSummary>;
}

/** What `wirebound get` asks for. */
export interface GetRequest {
  readonly host: string;
  readonly port: number;
  /** A file, a folder, `-`, `/dev/null`; undefined: the current folder. */
  readonly output?: string;
  readonly force: boolean;
  /** SHA-256 the file must have, lower-case hex. */
  readonly expect?: string;
  readonly waitMs: number;
  readonly retryForMs: number;
  readonly signal: AbortSignal;
  readonly onEvent: (event: GetEvent) => void;
}

/** A plugin to use: what {@link resolvePlugin} takes, or the plugin itself. */
export type PluginReference = string | Plugin;

/** Everything the commands can do. */
export interface App {
  codecs(): readonly CodecListing[];
  sources(): readonly SourceListing[];
  /** Resolves once clients can connect; `signal` cancels everything before that. */
  serve(request: ServeRequest, signal: AbortSignal): Promise<RunningServer>;
  /** See {@link getFile} for what resolves and what rejects. */
  get(request: GetRequest): Promise<GetResult>;
}

/** A loaded plugin, or the reason why there is none. */
interface LoadedPlugin {
  /** URL of its module; absent for a plugin handed over as an object. */
  readonly module?: string;
  readonly origin: string;
  readonly plugin?: Plugin;
  /** For a codec of ours that failed to load: its name and why. */
  readonly failure?: { readonly codec: string; readonly cause: unknown };
}

const PLUGIN: InjectionToken<LoadedPlugin> = Symbol('plugin');
const CODECS: InjectionToken<CodecRegistry> = Symbol('codecs');
const SOURCES: InjectionToken<SourceRegistry> = Symbol('sources');
const CHAIN_CACHE: InjectionToken<ChainCache> = Symbol('chain cache');

const BUILT_IN_CODECS = ['none', 'lz4', 'deflate'];
/** In the order in which `--source auto` tries them. */
const BUILT_IN_SOURCES = ['mmap', 'file', 'memory'];
const AGENT = `wirebound/${version}`;

/**
 * Puts the parts together, in a container of its own: nothing is shared between two calls. `plugins` come beside
 * the built-in ones, as modules to load or as objects; one that fails rejects with PLUGIN_FAILED.
 */
export async function compose(options: { readonly plugins?: readonly PluginReference[] } = {}): Promise<App> {
  const services = container.createChildContainer();
  for (const loaded of await loadPlugins(options.plugins ?? []))
    services.register(PLUGIN, { useValue: loaded });
  services.register(CODECS, { useFactory: instanceCachingFactory(createCodecs) });
  services.register(SOURCES, { useFactory: instanceCachingFactory(createSources) });
  services.register(CHAIN_CACHE, { useFactory: instanceCachingFactory(createChainCache) });
  return createApp(services);
}

function createApp(services: DependencyContainer): App {
  const codecs = services.resolve(CODECS);
  const sources = services.resolve(SOURCES);
  return {
    codecs: () => codecs.list(),
    sources: () => sources.list(),
    serve: (request, signal) =>
      openServer({ ...request, signal, codecs, sources, cache: services.resolve(CHAIN_CACHE) }),
    get: ({ host, port, ...request }) =>
      getFile({
        ...request,
        target: { host, port },
        agent: AGENT,
        codecs: codecs
          .names()
          .filter((name) => name !== 'none')
          .map((name) => codecs.get(name)),
      }),
  };
}

/** Built-in plugins go the same way as anyone else's, except that one that does not load is only listed as such. */
async function loadPlugins(plugins: readonly PluginReference[]): Promise<readonly LoadedPlugin[]> {
  const builtIn = (kind: string, name: string) =>
    new URL(`./plugins/${kind}/${name}.js`, import.meta.url).href;
  return Promise.all([
    ...BUILT_IN_SOURCES.map((name) => load(builtIn('sources', name), 'built-in')),
    ...BUILT_IN_CODECS.map((name) =>
      load(builtIn('codecs', name), 'built-in').catch(
        (cause: unknown): LoadedPlugin => ({
          origin: 'built-in',
          failure: { codec: name, cause },
        }),
      ),
    ),
    ...plugins.map((plugin) =>
      typeof plugin === 'string' ? load(resolvePlugin(plugin), plugin) : takeObject(plugin),
    ),
  ]);
}

async function takeObject(value: Plugin): Promise<LoadedPlugin> {
  const origin = String(value?.name);
  return { origin, plugin: checkPlugin(value, origin) };
}

async function load(module: string, origin: string): Promise<LoadedPlugin> {
  return { module, origin, plugin: await loadPlugin(module) };
}

function createCodecs(services: DependencyContainer): CodecRegistry {
  const registry = new CodecRegistry();
  for (const { module, origin, plugin, failure } of services.resolveAll(PLUGIN)) {
    for (const codec of plugin?.codecs ?? [])
      registry.register(codec, { origin, ...(module === undefined ? {} : { module }) });
    if (failure !== undefined) registry.registerUnavailable(failure.codec, origin, failure.cause);
  }
  return registry;
}

function createSources(services: DependencyContainer): SourceRegistry {
  const registry = new SourceRegistry();
  for (const { origin, plugin } of services.resolveAll(PLUGIN)) {
    for (const provider of plugin?.sources ?? []) registry.register(provider, origin);
  }
  return registry;
}

function createChainCache(): ChainCache {
  return new ChainCache(defaultCacheFolder(process.env, process.platform, homedir()));
}
