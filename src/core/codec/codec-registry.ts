import { causeLine } from '../cause-line.js';
import { WireBoundError } from '../errors.js';
import { escapeForTerminal } from '../escape.js';
import type { Codec } from './codec.js';

const NAME = /^[a-z0-9][a-z0-9-]{0,31}$/;

/** Where a codec came from. */
export interface CodecOrigin {
  /** For people: `built-in`, a package, a path. */
  readonly origin: string;
  /** URL of the plugin module, so that a worker thread can import it again; absent for a codec handed over as an object. */
  readonly module?: string;
}

/** A working codec and where it came from. */
export interface RegisteredCodec extends CodecOrigin {
  readonly codec: Codec;
}

/** One line of `wirebound codecs`. */
export interface CodecListing {
  readonly name: string;
  readonly origin: string;
  /** Why it does not work on this machine; absent when it does. */
  readonly unavailable?: string;
}

interface UnavailableCodec {
  readonly origin: string;
  readonly cause: unknown;
}

/** All codecs by name: those that work, and those that are known but do not work on this machine. */
export class CodecRegistry {
  // A Map, because names come from peers: `__proto__` must be as unknown as any other.
  readonly #entries = new Map<string, RegisteredCodec | UnavailableCodec>();

  /** Adds a codec. Throws PLUGIN_FAILED when its name is malformed or taken. */
  register(codec: Codec, origin: CodecOrigin): void {
    this.#add(codec.name, { ...origin, codec });
  }

  /** Remembers that a codec of this name exists but could not be loaded, and why. Throws like {@link register}. */
  registerUnavailable(name: string, origin: string, cause: unknown): void {
    this.#add(name, { origin, cause });
  }

  /** Looks a codec up. Throws CODEC_UNKNOWN (which lists the names there are) or CODEC_UNAVAILABLE. */
  get(name: string): RegisteredCodec {
    const entry = this.#entries.get(name);
    if (entry === undefined) {
      const known = this.names().join(', ');
      throw new WireBoundError('CODEC_UNKNOWN', `unknown codec ${shown(name)}; there are: ${known}`, {
        suggestions: ['`wirebound codecs` lists them all; one of a plugin needs --plugin'],
      });
    }
    if ('codec' in entry) return entry;
    const message = `codec ${name} does not work on this machine: ${causeLine(entry.cause)}`;
    throw new WireBoundError('CODEC_UNAVAILABLE', message, { cause: entry.cause });
  }

  /** Whether {@link get} would return a codec. */
  has(name: string): boolean {
    const entry = this.#entries.get(name);
    return entry !== undefined && 'codec' in entry;
  }

  /** The names of the codecs that work, `none` first, then as registered. */
  names(): string[] {
    return this.list().flatMap(({ name, unavailable }) => (unavailable === undefined ? [name] : []));
  }

  /** Everything registered, `none` first, then as registered. */
  list(): CodecListing[] {
    const listings = [...this.#entries].map(([name, entry]) => {
      const broken = 'codec' in entry ? {} : { unavailable: causeLine(entry.cause) };
      return { name, origin: entry.origin, ...broken };
    });
    return listings.sort((a, b) => Number(b.name === 'none') - Number(a.name === 'none'));
  }

  /** Throws PLUGIN_FAILED when a codec of this name could not be registered. */
  check(name: string, origin: string): void {
    if (!NAME.test(name)) {
      const rule = 'use 1 to 32 lower-case letters, digits and hyphens';
      throw new WireBoundError('PLUGIN_FAILED', `codec name ${shown(name)} of ${origin}: ${rule}`);
    }
    const other = this.#entries.get(name);
    if (other === undefined) return;
    const message = `codec ${name} of ${origin} is already registered by ${other.origin}`;
    throw new WireBoundError('PLUGIN_FAILED', message);
  }

  #add(name: string, entry: RegisteredCodec | UnavailableCodec): void {
    this.check(name, entry.origin);
    this.#entries.set(name, entry);
  }
}

/** A name that may come from a peer: quoted, escaped, cut. */
function shown(name: string): string {
  return `"${escapeForTerminal(name.slice(0, 32))}"`;
}
