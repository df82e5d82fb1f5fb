import type { FileHandle } from 'node:fs/promises';
import { systemCode } from '../../../core/errors.js';
import type { RegularFile } from '../regular-file.js';
import type { Mapping } from './mapping-binding.js';
import { openScratchFile } from './scratch-file.js';

const SAMPLE_SIZE = 4096;

/** `shorter`: the file has lost bytes that the mapping should show. */
export type MappingVerdict = 'same' | 'different' | 'shorter';

/**
 * Whether a mapping of `file` at `offset` shows the file's bytes: its two ends and its middle are copied out by the
 * kernel (a write to a scratch file, so that lost pages are an error and not SIGBUS) and compared with
 * what reading gives. One difference is forgiven, as the file may be changing. Throws when no scratch file
 * can be written.
 */
export async function checkMapping(
  mapping: Mapping,
  offset: number,
  file: RegularFile,
): Promise<MappingVerdict> {
  const scratch = await openScratchFile();
  try {
    const { length } = mapping.bytes;
    for (const start of new Set([0, Math.floor(length / 2), Math.max(0, length - SAMPLE_SIZE)])) {
      const sample = mapping.bytes.subarray(start, start + SAMPLE_SIZE);
      let verdict = await compare(sample, offset + start, file, scratch);
      if (verdict === 'different') verdict = await compare(sample, offset + start, file, scratch);
      if (verdict !== 'same') return verdict;
    }
    return 'same';
  } finally {
    await scratch.close();
  }
}

async function compare(
  sample: Buffer,
  offset: number,
  file: RegularFile,
  scratch: FileHandle,
): Promise<MappingVerdict> {
  const expected = Buffer.alloc(sample.length);
  if ((await file.read(offset, expected)) < expected.length) return 'shorter';
  const actual = Buffer.alloc(sample.length);
  try {
    const { bytesWritten } = await scratch.write(sample, 0, sample.length, 0);
    if (bytesWritten < sample.length) return 'shorter';
  } catch (error) {
    if (systemCode(error) === 'EFAULT') return 'shorter';
    throw error;
  }
  await scratch.read(actual, 0, actual.length, 0);
  return actual.equals(expected) ? 'same' : 'different';
}
