import { tmpdir } from 'node:os';
import { causeLine } from '../cause-line.js';
import { WireBoundError } from '../errors.js';
import { escapeForTerminal } from '../escape.js';
import type { ChunkSource, OpenOptions, SourceProvider, StreamSource } from './chunk-source.js';
import { type HostedSource, hostSource } from './host-source.js';

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

/** Any provider: of sources, or of streams that are taken in. */
type AnyProvider = SourceProvider<ChunkSource | StreamSource>;

/** An open source, which the caller closes, and how it came to be this one. */
export interface OpenedSource extends HostedSource {
  readonly provider: string;
  /** For people, on one line: `mmap: a regular file`, `file, because …`. */
  readonly reason: string;
}

/** All source providers, in the order in which `auto` tries them. */
export class SourceRegistry {
  readonly #entries = new Map<string, { readonly provider: AnyProvider; readonly origin: string }>();
  readonly #spoolFolder: string;

  /** `spoolFolder`: where content that cannot be read twice is kept while it is served. */
  constructor(spoolFolder: string = tmpdir()) {
    this.#spoolFolder = spoolFolder;
  }

  /** Adds a provider. Throws PLUGIN_FAILED when its name is malformed or taken. */
  register(provider: AnyProvider, origin: string): void {
    this.check(provider.name, origin);
    this.#entries.set(provider.name, { provider, origin });
  }

  /** Throws PLUGIN_FAILED when a provider of this name could not be registered. */
  check(name: string, origin: string): void {
    if (typeof name !== 'string' || !NAME.test(name) || name === AUTO) {
      const rule = `use 1 to 32 lower-case letters, digits and hyphens, and not ${AUTO}`;
      throw new WireBoundError('PLUGIN_FAILED', `source name ${shown(String(name))} of ${origin}: ${rule}`);
    }
    const other = this.#entries.get(name);
    if (other === undefined) return;
    const message = `source ${name} of ${origin} is already registered by ${other.origin}`;
    throw new WireBoundError('PLUGIN_FAILED', message);
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
      const hosted = await this.#openWith(this.#chosen(reference, choice), reference, options, false);
      return { ...hosted, provider: choice, reason: `${choice}: asked for` };
    }
    const skipped: string[] = [];
    let failure: WireBoundError | undefined;
    for (const { provider } of this.#entries.values()) {
      if (!provider.accepts(reference)) continue;
      try {
        const hosted = await this.#openWith(provider, reference, options, true);
        return { ...hosted, provider: provider.name, reason: reasonFor(provider.name, reference, skipped) };
      } catch (error) {
        if (!isProvidersOwn(error)) throw error;
        failure = error;
        skipped.push(error.message);
      }
    }
    if (failure !== undefined) throw failure;
    const scheme = schemeOf(reference);
    throw new WireBoundError('USAGE', `no source opens ${shown(reference)}; there are: ${this.#names()}`, {
      suggestions: scheme === undefined ? [] : [`a plugin may open ${scheme}://; name it with --plugin`],
    });
  }

  #chosen(reference: string, choice: string): AnyProvider {
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

  async #openWith(
    provider: AnyProvider,
    reference: string,
    options: OpenOptions,
    automatic: boolean,
  ): Promise<HostedSource> {
    const reason = whyUnavailable(provider);
    if (reason !== undefined) throw new WireBoundError('SOURCE_UNAVAILABLE', reason);
    let opened: unknown;
    try {
      opened = await provider.open(reference, { ...options, automatic });
    } catch (error) {
      if (error instanceof WireBoundError) throw error;
      const message = `source ${provider.name} failed on ${shown(reference)}: ${causeLine(error)}`;
      throw new WireBoundError('PLUGIN_FAILED', message, { cause: error });
    }
    const hosting = { ...options, provider: provider.name, reference, spoolFolder: this.#spoolFolder };
    return hostSource(opened, hosting);
  }

  #names(): string {
    return [...this.#entries.keys()].join(', ');
  }
}

/** Errors that say something about the provider, so that another one may still open the reference. */
function isProvidersOwn(error: unknown): error is WireBoundError {
  return (
    error instanceof WireBoundError && (error.code === 'SOURCE_UNAVAILABLE' || error.code === 'PLUGIN_FAILED')
  );
}

function whyUnavailable(provider: AnyProvider): string | undefined {
  try {
    return provider.unavailable?.();
  } catch (error) {
    return causeLine(error);
  }
}

function reasonFor(provider: string, reference: string, skipped: readonly string[]): string {
  if (skipped.length > 0) return `${provider}, because ${skipped.join('; ')}`;
  if (reference === '-') return `${provider}: standard input`;
  const scheme = schemeOf(reference);
  return scheme === undefined ? `${provider}: a regular file` : `${provider}: opens ${scheme}://`;
}

function schemeOf(reference: string): string | undefined {
  return /^([a-z][a-z0-9+.-]*):\/\//i.exec(reference)?.[1];
}

function shown(text: string): string {
  return `"${escapeForTerminal(text)}"`;
}
