import { libc } from './libc.js';
import type { Mapping, MappingBinding } from './mapping-binding.js';

/** Maps through the C library's own `mmap`: any offset, any size, explicit unmapping. */
export const koffiBinding: MappingBinding = {
  name: 'koffi',
  unavailable: () => libc.failure,
  accepts: () => true,
  map(descriptor, offset, length): Mapping {
    const library = libc.value;
    if (library === undefined) throw new Error(libc.failure);
    const address = library.map(descriptor, offset, length);
    return {
      bytes: library.view(address, length),
      unmap: () => library.unmap(address, length),
    };
  },
};
