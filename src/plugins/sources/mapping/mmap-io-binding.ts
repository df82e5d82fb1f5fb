import { getSystemErrorName } from 'node:util';
import type { Mapping, MappingBinding } from './mapping-binding.js';
import { OptionalPackage } from './optional-package.js';

/** The part of mmap-io that is used here; not its own types, because the package is optional. */
interface MmapIo {
  readonly PROT_READ: number;
  readonly MAP_SHARED: number;
  map(size: number, protection: number, flags: number, descriptor: number, offset: number): Buffer;
}

/** Sizes and offsets are 32-bit integers in there; above, it maps wrong bytes without an error. */
const SIZE_LIMIT = 2 ** 31 - 1;

const mmapIo = new OptionalPackage('mmap-io', (exports) => exports as MmapIo);

/** Maps through the native add-on mmap-io, where it is built. Pages go when the garbage collector finds out. */
export const mmapIoBinding: MappingBinding = {
  name: 'mmap-io',
  unavailable: () => mmapIo.failure,
  accepts: (fileSize) => fileSize < SIZE_LIMIT,
  map(descriptor, offset, length): Mapping {
    const library = mmapIo.value;
    if (library === undefined) throw new Error(mmapIo.failure);
    try {
      const bytes = library.map(length, library.PROT_READ, library.MAP_SHARED, descriptor, offset);
      return { bytes, unmap: () => {} };
    } catch (error) {
      throw withSystemCode(error);
    }
  },
};

/** mmap-io says `mmap failed, 12` and leaves the number in the text. */
function withSystemCode(error: unknown): unknown {
  const number = /mmap failed, (\d+)/.exec(String(error))?.[1];
  if (number === undefined) return error;
  const code = getSystemErrorName(-Number(number));
  return Object.assign(new Error(`mmap failed, ${code}`, { cause: error }), { code });
}
