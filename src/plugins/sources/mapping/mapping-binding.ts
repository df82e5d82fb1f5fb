/** One mapped span of a file. Only the kernel may read `bytes`. */
export interface Mapping {
  readonly bytes: Buffer;
  /** Takes the pages away; call once, and never while anything may still use `bytes`. */
  unmap(): void;
}

/** A way to map spans of files read-only. */
export interface MappingBinding {
  /** The package behind it, for people. */
  readonly name: string;
  /** Why it does not work on this machine, undefined when it does; the first call loads the package. */
  unavailable(): string | undefined;
  /** Whether it maps files of `fileSize` bytes right. */
  accepts(fileSize: number): boolean;
  /**
   * Maps `length` bytes at `offset`, a multiple of 64 KiB. Throws an error with the system's `code`
   * (`ENOMEM`).
   */
  map(descriptor: number, offset: number, length: number): Mapping;
}
