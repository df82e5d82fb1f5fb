import { getSystemErrorName } from 'node:util';
import { OptionalPackage } from './optional-package.js';

/** The part of koffi that is used here; not its own types, because the package is optional. */
interface Koffi {
  load(path: null): { func(name: string, result: string, parameters: readonly string[]): ForeignFunction };
  sizeof(type: string): number;
  errno(): number;
  address(bytes: Uint8Array): bigint;
  view(address: bigint, length: number): ArrayBuffer;
}

interface ForeignFunction {
  (...parameters: (number | bigint)[]): number | bigint;
  async(...parameters: [...(number | bigint)[], (error: unknown, result: number | bigint) => void]): void;
}

const PROT_READ = 1;
const MAP_SHARED = 1;
const MAP_FAILED = 2n ** 64n - 1n;
/** Since Linux 5.14: faults pages in and reports lost ones as an error instead of a signal. */
const MADV_POPULATE_READ = 22;

/** `mmap` and its kin of the C library, through koffi. */
export class Libc {
  readonly #koffi: Koffi;
  readonly #mmap: ForeignFunction;
  readonly #munmap: ForeignFunction;
  readonly #madvise: ForeignFunction;

  constructor(koffi: Koffi) {
    if (koffi.sizeof('size_t') !== 8) throw new Error('needs a 64-bit system');
    const library = koffi.load(null);
    this.#koffi = koffi;
    this.#mmap = library.func('mmap', 'uintptr_t', ['uintptr_t', 'size_t', 'int', 'int', 'int', 'int64_t']);
    this.#munmap = library.func('munmap', 'int', ['uintptr_t', 'size_t']);
    this.#madvise = library.func('madvise', 'int', ['uintptr_t', 'size_t', 'int']);
  }

  /** Maps a span read-only and returns its address. Throws an error with the system's `code`. */
  map(descriptor: number, offset: number, length: number): bigint {
    const address = BigInt(this.#mmap(0, length, PROT_READ, MAP_SHARED, descriptor, offset));
    if (address === MAP_FAILED) throw this.#systemError('mmap');
    return address;
  }

  /** Unmaps exactly what {@link map} returned. */
  unmap(address: bigint, length: number): void {
    if (Number(this.#munmap(address, length)) !== 0) throw this.#systemError('munmap');
  }

  /** The pages at `address` as a buffer that frees nothing by itself. */
  view(address: bigint, length: number): Buffer {
    return Buffer.from(this.#koffi.view(address, length));
  }

  /** Whether {@link populate} works on this kernel, judged at the start of a mapping without any reading. */
  canPopulate(bytes: Uint8Array): boolean {
    if (process.platform !== 'linux') return false;
    return Number(this.#madvise(this.#koffi.address(bytes), 0, MADV_POPULATE_READ)) === 0;
  }

  /**
   * Makes mapped pages resident in a pool thread; `bytes` begins at a page. Resolves to false when that
   * fails, for instance because the pages are lost.
   */
  populate(bytes: Uint8Array): Promise<boolean> {
    const address = this.#koffi.address(bytes);
    return new Promise((resolve) => {
      this.#madvise.async(address, bytes.length, MADV_POPULATE_READ, (error, result) => {
        resolve(!error && Number(result) === 0);
      });
    });
  }

  #systemError(call: string): Error {
    const code = getSystemErrorName(-this.#koffi.errno());
    return Object.assign(new Error(`${call} failed, ${code}`), { code });
  }
}

/** The C library of this process, where koffi works. */
export const libc = new OptionalPackage('koffi', (exports) => new Libc(exports as Koffi));
