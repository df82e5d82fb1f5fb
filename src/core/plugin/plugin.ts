import type { Codec } from '../codec/codec.js';
import type { SourceProvider } from '../source/chunk-source.js';

/** The version of the contracts a plugin is written against. */
export const PLUGIN_API_VERSION = 1;

/** What a plugin module exports as its default: codecs, sources, or both. */
export interface Plugin {
  readonly name: string;
  readonly apiVersion: number;
  readonly codecs: readonly Codec[];
  readonly sources: readonly SourceProvider[];
}

/** A {@link Plugin} as its author writes it. */
export interface PluginDefinition {
  readonly name: string;
  readonly apiVersion?: number;
  readonly codecs?: readonly Codec[];
  readonly sources?: readonly SourceProvider[];
}

/** Fills in what an author may leave out. */
export function definePlugin(definition: PluginDefinition): Plugin {
  return { apiVersion: PLUGIN_API_VERSION, codecs: [], sources: [], ...definition };
}
