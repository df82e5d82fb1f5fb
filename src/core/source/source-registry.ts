import { causeLine } from '../cause-line.js';
import { WireBoundError } from '../errors.js';
import { escapeForTerminal } from '../escape.js';
import type { ChunkSource, OpenOptions, SourceProvider } from './chunk-source.js';

const NAME = /^[a-z0-9][a-z0-9-]{0,31}$/;

/** The choice that means: the first provider that can. */
const AUTO = 'auto';

/** One line of `wirebound sources`. */
export interface SourceListing {
  readonly name: string;
  /** For people: `built-in`, a package, a path. */
  readonly origin: string;
  /** Why it does not work on this machine; absent when it does. */
  readonly unavailable?: string;
}

/** An open source and how it came to be this one. */
export interface OpenedSource {
  /** The caller closes it. */
  readonly source: ChunkSource;
  readonly provider: string;
  /** For people, on one line: `mmap: a regular file`, `file, because …`. */
  readonly reason: string;
}

/** All source providers, in the order in which `auto` tries them. */
export class SourceRegistry {
  readonly #entries = new Map<string, { readonly provider: SourceProvider; readonly origin: string }>();

  /** Adds a provider. Throws PLUGIN_FAILED when its name is malformed or taken. */
  register(provider: SourceProvider, origin: string): void {
    const { name } = provider;
    if (typeof name !== 'string' || !NAME.test(name) || name === AUTO) {
      const rule = `use 1 to 32 lower-case letters, digits and hyphens, and not ${AUTO}`;
      throw new WireBoundError('PLUGIN_FAILED', `source name ${shown(String(name))} of ${origin}: ${rule}`);
    }
    const other = this.#entries.get(name);
    if (other !== undefined) {
      const message = `source ${name} of ${origin} is already registered by ${other.origin}`;
      throw new WireBoundError('PLUGIN_FAILED', message);
    }
    this.#entries.set(name, { provider, origin });
  }

  /** Everything registered, in order. */
  list(): SourceListing[] {
    return [...this.#entries.values()].map(({ provider, origin }) => {
      const reason = whyUnavailable(provider);
      return { name: provider.name, origin, ...(reason === undefined ? {} : { unavailable: reason }) };
    });
  }

  /**
   * Opens a reference with the provider called `choice`, or with `auto`: then providers that do not work
   * here, or fail for reasons of their own, make way for the next one. What is wrong with the
   * reference itself (missing, not a regular file, too large) ends it at once.
   * Throws USAGE for a choice or a reference that nobody knows, PLUGIN_FAILED for a provider that breaks
   * its contract, and errors of the SOURCE family.
   */
  async open(reference: string, choice: string, options: OpenOptions): Promise<OpenedSource> {
    if (choice !== AUTO) {
      const source = await openWith(this.#chosen(reference, choice), reference, options, false);
      return { source, provider: choice, reason: `${choice}: asked for` };
    }
    const skipped: string[] = [];
    let failure: WireBoundError | undefined;
    for (const { provider } of this.#entries.values()) {
      if (!provider.accepts(reference)) continue;
      try {
        const source = await openWith(provider, reference, options, true);
        return { source, provider: provider.name, reason: reasonFor(provider.name, reference, skipped) };
      } catch (error) {
        if (!isProvidersOwn(error)) throw error;
        failure = error;
        skipped.push(error.message);
      }
    }
    if (failure !== undefined) throw failure;
    throw new WireBoundError('USAGE', `no source opens ${shown(reference)}; there are: ${this.#names()}`);
  }

  #chosen(reference: string, choice: string): SourceProvider {
    const entry = this.#entries.get(choice);
    if (entry === undefined) {
      const message = `unknown source ${shown(choice)}; there are: ${AUTO}, ${this.#names()}`;
      throw new WireBoundError('USAGE', message, { suggestions: ['`wirebound sources` lists them all'] });
    }
    if (entry.provider.accepts(reference)) return entry.provider;
    throw new WireBoundError('USAGE', `the source ${choice} does not open ${shown(reference)}`, {
      suggestions: ['leave --source out'],
    });
  }

  #names(): string {
    return [...this.#entries.keys()].join(', ');
  }
}

async function openWith(
  provider: SourceProvider,
  reference: string,
  options: OpenOptions,
  automatic: boolean,
): Promise<ChunkSource> {
  const reason = whyUnavailable(provider);
  if (reason !== undefined) throw new WireBoundError('SOURCE_UNAVAILABLE', reason);
  const extended: OpenOptions = { ...options, automatic };
  let source: ChunkSource;
  try {
    source = await provider.open(reference, extended);
  } catch (error) {
    if (error instanceof WireBoundError) throw error;
    const message = `source ${provider.name} failed on ${shown(reference)}: ${causeLine(error)}`;
    throw new WireBoundError('PLUGIN_FAILED', message, { cause: error });
  }
  if (typeof source?.read === 'function' && Number.isSafeInteger(source.size) && source.size >= 0) {
    return source;
  }
  const message = `source ${provider.name} opened ${shown(reference)} without a size or a way to read it`;
  throw new WireBoundError('PLUGIN_FAILED', message);
}

/** Errors that say something about the provider, so that another one may still open the reference. */
function isProvidersOwn(error: unknown): error is WireBoundError {
  return (
    error instanceof WireBoundError && (error.code === 'SOURCE_UNAVAILABLE' || error.code === 'PLUGIN_FAILED')
  );
}

function whyUnavailable(provider: SourceProvider): string | undefined {
  try {
    return provider.unavailable?.();
  } catch (error) {
    return causeLine(error);
  }
}

function reasonFor(provider: string, reference: string, skipped: readonly string[]): string {
  if (skipped.length > 0) return `${provider}, because ${skipped.join('; ')}`;
  if (reference === '-') return `${provider}: standard input`;
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(reference)?.[1];
  return scheme === undefined ? `${provider}: a regular file` : `${provider}: opens ${scheme}://`;
}

function shown(text: string): string {
  return `"${escapeForTerminal(text)}"`;
}
