import type { Codec } from '../codec/codec.js';
import type { ChunkSource, OpenOptions, SourceProvider, StreamSource } from '../source/chunk-source.js';

/** The version of the contracts a plugin is written against. */
export const PLUGIN_API_VERSION = 1;

/** What a plugin module exports as its default: codecs, sources, or both. */
export interface Plugin {
  readonly name: string;
  readonly apiVersion: number;
  readonly codecs: readonly Codec[];
  readonly sources: readonly SourceProvider<ChunkSource | StreamSource>[];
}

/**
 * A source as its author writes it. One of `scheme` and `accepts` says which references it opens. What `open`
 * returns needs `name`, `size`, `read` and `close`, or, where the size is not known, `name` and `stream`.
 */
export interface SourceDefinition {
  /** What `--source` calls it: lower-case letters, digits, `-`. */
  readonly name: string;
  /** Opens `scheme://…`; several where it goes by several names. */
  readonly scheme?: string | readonly string[];
  /** As {@link SourceProvider.accepts}; instead of `scheme`. */
  accepts?(reference: string): boolean;
  open(reference: string, options: OpenOptions): Promise<ChunkSource | StreamSource>;
  /** As {@link SourceProvider.unavailable}. */
  unavailable?(): string | undefined;
}

/** A {@link Plugin} as its author writes it. */
export interface PluginDefinition {
  readonly name: string;
  /** The plugin API it was written for; the current one unless given. */
  readonly apiVersion?: number;
  readonly codecs?: readonly Codec[];
  readonly sources?: readonly SourceDefinition[];
}

/** Fills in what an author may leave out. */
export function definePlugin(definition: PluginDefinition): Plugin {
  return {
    apiVersion: PLUGIN_API_VERSION,
    codecs: [],
    ...definition,
    sources: (definition.sources ?? []).map(defineSource),
  };
}

function defineSource(source: SourceDefinition): SourceProvider<ChunkSource | StreamSource> {
  if (source.scheme === undefined) return source as SourceProvider<ChunkSource | StreamSource>;
  const starts = [source.scheme].flat().map((scheme) => `${scheme.toLowerCase()}://`);
  return {
    name: source.name,
    accepts: (reference) => starts.some((start) => reference.toLowerCase().startsWith(start)),
    open: (reference, options) => source.open(reference, options),
    unavailable: () => source.unavailable?.(),
  };
}
