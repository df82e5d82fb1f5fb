import type { CodecRegistry } from '../codec/codec-registry.js';
import { toWireBoundError, type WireBoundError } from '../errors.js';
import type { SourceRegistry } from '../source/source-registry.js';
import { loadPlugin } from './load-plugin.js';
import { packageVersion } from './package-version.js';
import type { Plugin } from './plugin.js';
import type { PluginRequest } from './plugin-request.js';
import { resolvePlugin } from './resolve-plugin.js';

/** One line of `wirebound plugins`. */
export interface PluginListing {
  /** What the plugin calls itself; what it was asked for as when it could not be loaded. */
  readonly name: string;
  /** Of the package it lies in. */
  readonly version?: string;
  readonly codecs: readonly string[];
  readonly sources: readonly string[];
  /** For people: `built-in`, a package, a path. */
  readonly origin: string;
  /** For people: who asked for it. */
  readonly askedBy?: string;
  /** What is wrong with it; absent when it works. */
  readonly unavailable?: string;
}

/** Plugins that were asked for, loaded into the registries; those that fail are remembered with their cause. */
export class PluginShelf {
  readonly #codecs: CodecRegistry;
  readonly #sources: SourceRegistry;
  readonly #modules = new Set<string>();
  readonly #listings: PluginListing[] = [];
  readonly #failures: { readonly error: WireBoundError; readonly required: boolean }[] = [];

  constructor(codecs: CodecRegistry, sources: SourceRegistry) {
    this.#codecs = codecs;
    this.#sources = sources;
  }

  /** Everything that was asked for, in order. */
  list(): readonly PluginListing[] {
    return this.#listings;
  }

  /** What is wrong with those that failed; `required`: those that somebody asked for by name. */
  failures(required: boolean): readonly WireBoundError[] {
    return this.#failures.filter((failure) => failure.required === required).map(({ error }) => error);
  }

  /** Loads and registers plugins, in this order. A module that was asked for twice counts once. */
  async load(requests: readonly PluginRequest[]): Promise<void> {
    const loaded = await Promise.all(requests.map(attempt));
    for (const [index, outcome] of loaded.entries()) this.#take(requests[index] as PluginRequest, outcome);
  }

  /** Registers a plugin that is at hand. Throws PLUGIN_FAILED when one of its names is malformed or taken. */
  add(
    plugin: Plugin,
    origin: { readonly origin: string; readonly askedBy?: string; readonly module?: string },
  ): void {
    for (const { name } of plugin.codecs) this.#codecs.check(name, origin.origin);
    for (const { name } of plugin.sources) this.#sources.check(name, origin.origin);
    const { module, askedBy } = origin;
    for (const codec of plugin.codecs) {
      this.#codecs.register(codec, { origin: origin.origin, ...(module === undefined ? {} : { module }) });
    }
    for (const source of plugin.sources) this.#sources.register(source, origin.origin);
    const version = module === undefined ? undefined : packageVersion(module);
    this.#listings.push({
      name: plugin.name,
      ...(version === undefined ? {} : { version }),
      codecs: plugin.codecs.map(({ name }) => name),
      sources: plugin.sources.map(({ name }) => name),
      origin: origin.origin,
      ...(askedBy === undefined ? {} : { askedBy }),
    });
  }

  /** Lists a plugin of ours that does not load on this machine. */
  miss(name: string, origin: string, cause: unknown): void {
    const unavailable = toWireBoundError(cause).message;
    this.#listings.push({ name, codecs: [], sources: [], origin, unavailable });
  }

  #take({ specifier, askedBy, required }: PluginRequest, outcome: Outcome): void {
    try {
      if ('error' in outcome) throw outcome.error;
      if (this.#modules.has(outcome.module)) return;
      this.#modules.add(outcome.module);
      this.add(outcome.plugin, { origin: specifier, askedBy, module: outcome.module });
    } catch (error) {
      const failure = toWireBoundError(error, 'PLUGIN_FAILED');
      const unavailable = failure.message;
      this.#listings.push({
        name: specifier,
        codecs: [],
        sources: [],
        origin: specifier,
        askedBy,
        unavailable,
      });
      this.#failures.push({ error: failure, required });
    }
  }
}

type Outcome = { readonly module: string; readonly plugin: Plugin } | { readonly error: unknown };

async function attempt({ specifier, ...where }: PluginRequest): Promise<Outcome> {
  try {
    const module = resolvePlugin(specifier, where);
    return { module, plugin: await loadPlugin(specifier, where) };
  } catch (error) {
    return { error };
  }
}
