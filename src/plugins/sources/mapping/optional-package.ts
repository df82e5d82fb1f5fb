import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);

/**
 * A package that may be missing or broken on this machine. `prepare` picks what is needed from it and may
 * throw too. The outcome of the first attempt is kept.
 */
export class OptionalPackage<T> {
  readonly #name: string;
  readonly #prepare: (exports: unknown) => T;
  #outcome: { readonly value: T } | { readonly failure: string } | undefined;

  constructor(name: string, prepare: (exports: unknown) => T) {
    this.#name = name;
    this.#prepare = prepare;
  }

  /** Why it cannot be used, on one line; undefined when it can. */
  get failure(): string | undefined {
    const outcome = this.#load();
    return 'failure' in outcome ? outcome.failure : undefined;
  }

  /** What `prepare` returned; undefined when the package cannot be used. */
  get value(): T | undefined {
    const outcome = this.#load();
    return 'value' in outcome ? outcome.value : undefined;
  }

  #load(): { readonly value: T } | { readonly failure: string } {
    this.#outcome ??= this.#attempt();
    return this.#outcome;
  }

  #attempt(): { readonly value: T } | { readonly failure: string } {
    try {
      // Not `import()`: whether a source works must be known without waiting.
      return { value: this.#prepare(require(this.#name)) };
    } catch (error) {
      const [reason] = String(error instanceof Error ? error.message : error).split('\n');
      return { failure: `${this.#name} cannot be loaded (${reason})` };
    }
  }
}
