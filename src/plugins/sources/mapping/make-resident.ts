import type { Loan } from '../../../core/source/chunk-source.js';
import type { RegularFile } from '../regular-file.js';
import type { Libc } from './libc.js';

/** Where bytes go that are read only so that their pages are in memory; nobody looks at it. */
let scratch: Buffer | undefined;

/**
 * Brings the pages of a loan into memory in a pool thread, by `madvise` where there is a C
 * library to call and a kernel that knows how, by reading the
 * file otherwise. Resolves to false when they cannot all be had: the file has become shorter, or its disk fails.
 */
export async function makeResident(
  loan: Loan,
  offset: number,
  file: RegularFile,
  library: Libc | undefined,
): Promise<boolean> {
  if (library?.canPopulate(loan.bytes)) return library.populate(loan.bytes);
  scratch ??= Buffer.allocUnsafeSlow(2 ** 20);
  try {
    for (let done = 0; done < loan.bytes.length; ) {
      const piece = scratch.subarray(0, Math.min(scratch.length, loan.bytes.length - done));
      if ((await file.read(offset + done, piece)) < piece.length) return false;
      done += piece.length;
    }
    return true;
  } catch {
    return false;
  }
}
