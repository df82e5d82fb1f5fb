import { constants, type FileHandle, open } from 'node:fs/promises';
import { WireBoundError } from '../errors.js';
import { sinkFailure } from '../sink/sink-failure.js';

/** A file on this machine that is compared with a served one. */
export interface LocalCopy {
  readonly path: string;
  /** The caller's to close. */
  readonly file: FileHandle;
  /** Its size when it was opened. */
  readonly bytes: number;
}

/** Opens the file `path`: only to read it, unless it is to be repaired. Throws SINK_FAILED and SINK_UNSAFE. */
export async function openLocalCopy(path: string, repair: boolean): Promise<LocalCopy> {
  // Without O_NONBLOCK the opening of a pipe would wait for its other end.
  const flags = (repair ? constants.O_RDWR : constants.O_RDONLY) | (constants.O_NONBLOCK ?? 0);
  const file = await open(path, flags).catch((error: unknown) => {
    throw sinkFailure(error, 'open', path);
  });
  try {
    const facts = await file.stat();
    if (facts.isFile()) return { path, file, bytes: facts.size };
    throw new WireBoundError('SINK_UNSAFE', `${path} is not a regular file`);
  } catch (error) {
    await file.close();
    throw error;
  }
}
