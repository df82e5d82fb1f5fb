import 'reflect-metadata';
import { homedir } from 'node:os';
import { container, type DependencyContainer, type InjectionToken, instanceCachingFactory } from 'tsyringe';
import type { App, GetRequest, PluginReference, VerifyRequest } from './app.js';
import { CodecRegistry } from './core/codec/codec-registry.js';
import { ChainCache } from './core/digest/chain-cache.js';
import { defaultCacheFolder } from './core/digest/default-cache-folder.js';
import { DigestThread } from './core/digest/digest-thread.js';
import { installedUrl } from './core/installed-url.js';
import { checkPlugin, loadModule } from './core/plugin/load-plugin.js';
import type { Plugin } from './core/plugin/plugin.js';
import type { PluginRequest } from './core/plugin/plugin-request.js';
import { PluginShelf } from './core/plugin/plugin-shelf.js';
import { SourceRegistry } from './core/source/source-registry.js';
import { version } from './version.js';

export type * from './app.js';

/** How an app is put together. */
export interface ComposeOptions {
  /** Plugins beside the built-in ones: as objects, as modules to load, or as requests with all their circumstances. */
  readonly plugins?: readonly (PluginReference | PluginRequest)[];
  /** The app will only get: sources are not loaded, and the digest thread, which takes longest to start, is started first. */
  readonly purpose?: 'get';
  /** Does not reject when a plugin fails that was asked for by name: `plugins` tells of it. */
  readonly tolerant?: boolean;
}

const CODECS: InjectionToken<CodecRegistry> = Symbol('codecs');
const SOURCES: InjectionToken<SourceRegistry> = Symbol('sources');
const PLUGINS: InjectionToken<PluginShelf> = Symbol('plugins');
const CHAIN_CACHE: InjectionToken<ChainCache> = Symbol('chain cache');

const AGENT = `wirebound/${version}`;

/** Loads one module that has a plugin as its default export. */
type LoadModule = () => Promise<{ readonly default?: unknown }>;

const BUILT_IN_CODECS: Readonly<Record<string, LoadModule>> = {
  none: () => import('./plugins/codecs/none.js'),
  lz4: () => import('./plugins/codecs/lz4.js'),
  deflate: () => import('./plugins/codecs/deflate.js'),
};
/** In the order in which `--source auto` tries them. */
const BUILT_IN_SOURCES: Readonly<Record<string, LoadModule>> = {
  mmap: () => import('./plugins/sources/mmap.js'),
  file: () => import('./plugins/sources/file.js'),
  memory: () => import('./plugins/sources/memory.js'),
};

/**
 * Puts the parts together, in a container of its own: nothing is shared between two calls. Rejects with
 * PLUGIN_FAILED when a plugin fails that was asked for by name, unless that is tolerated.
 */
export async function compose({
  plugins = [],
  purpose,
  tolerant = false,
}: ComposeOptions = {}): Promise<App> {
  const threads = purpose === 'get' ? [DigestThread.start()] : [];
  const services = container.createChildContainer();
  services.register(CODECS, { useFactory: instanceCachingFactory(() => new CodecRegistry()) });
  services.register(SOURCES, { useFactory: instanceCachingFactory(() => new SourceRegistry(cacheFolder())) });
  services.register(PLUGINS, { useFactory: instanceCachingFactory(createPluginShelf) });
  services.register(CHAIN_CACHE, { useFactory: instanceCachingFactory(() => new ChainCache(cacheFolder())) });
  await loadBuiltIns(services, purpose);
  const shelf = services.resolve(PLUGINS);
  const requests: PluginRequest[] = [];
  for (const plugin of plugins) {
    const request = toRequest(plugin);
    if (request === undefined) takeObject(shelf, plugin as Plugin);
    else requests.push(request);
  }
  await shelf.load(requests);
  const [failure] = shelf.failures(true);
  if (failure !== undefined && !tolerant) throw failure;
  return createApp(services, threads);
}

function createApp(services: DependencyContainer, started: readonly DigestThread[]): App {
  let threads = started;
  const codecs = services.resolve(CODECS);
  const sources = services.resolve(SOURCES);
  const plugins = services.resolve(PLUGINS);
  const client = ({ host, port, idleTimeoutMs }: GetRequest | VerifyRequest) => ({
    target: { host, port },
    agent: AGENT,
    codecs: codecs
      .names()
      .filter((name) => name !== 'none')
      .map((name) => codecs.get(name)),
    limits: idleTimeoutMs === undefined ? {} : { idleTimeoutMs },
  });
  return {
    codecs: () => codecs.list(),
    sources: () => sources.list(),
    plugins: () => plugins.list(),
    pluginFailures: () => plugins.failures(false),
    serve: async (request, signal) => {
      const { openServer } = await import('./core/server/open-server.js');
      return openServer({ ...request, signal, codecs, sources, cache: services.resolve(CHAIN_CACHE) });
    },
    get: async (request) => {
      const { getFile } = await import('./core/client/get-file.js');
      const [thread, ...others] = threads;
      threads = others;
      return getFile({ ...request, ...client(request), thread });
    },
    verify: async (request) => {
      const { verifyFile } = await import('./core/client/verify-file.js');
      return verifyFile({ ...request, ...client(request) });
    },
  };
}

function createPluginShelf(services: DependencyContainer): PluginShelf {
  return new PluginShelf(services.resolve(CODECS), services.resolve(SOURCES));
}

/** Built-in plugins go the same way as anyone else's, except that a codec that does not load keeps its name. */
async function loadBuiltIns(services: DependencyContainer, purpose: 'get' | undefined): Promise<void> {
  const shelf = services.resolve(PLUGINS);
  const origin = 'built-in';
  const modules = [
    ...(purpose === 'get' ? [] : builtIns('sources', BUILT_IN_SOURCES)),
    ...builtIns('codecs', BUILT_IN_CODECS),
  ];
  const loading = modules.map(({ name, load }) =>
    loadModule(name, load).catch((cause: unknown) => ({ cause })),
  );
  for (const [index, { kind, name, module }] of modules.entries()) {
    const loaded = (await loading[index]) as Plugin | { readonly cause: unknown };
    if (!('cause' in loaded)) shelf.add(loaded, { origin, module });
    else if (kind === 'sources') throw loaded.cause;
    else {
      services.resolve(CODECS).registerUnavailable(name, origin, loaded.cause);
      shelf.miss(name, origin, loaded.cause);
    }
  }
}

/** `module`: what a thread can load the same plugin from. */
function builtIns(kind: 'codecs' | 'sources', loaders: Readonly<Record<string, LoadModule>>) {
  return Object.entries(loaders).map(([name, load]) => {
    const module = installedUrl(`plugins/${kind}/${name}.js`).href;
    return { kind, name, load, module };
  });
}

/** Undefined for a plugin that was handed over as an object. */
function toRequest(plugin: PluginReference | PluginRequest): PluginRequest | undefined {
  if (typeof plugin === 'string') {
    // Whoever hands a module over to this program asked for it by name.
    const folder = process.cwd();
    return { specifier: plugin, askedBy: 'this program', folder, packagesFrom: folder, required: true };
  }
  return typeof plugin === 'object' && plugin !== null && 'specifier' in plugin ? plugin : undefined;
}

function takeObject(shelf: PluginShelf, value: Plugin): void {
  const origin = String(value?.name);
  shelf.add(checkPlugin(value, origin), { origin });
}

function cacheFolder(): string {
  return defaultCacheFolder(process.env, process.platform, homedir());
}
