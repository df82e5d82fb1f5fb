import type { ChunkSource } from '../core/source/chunk-source.js';
import { patternlessBytes } from './patternless-bytes.js';

const KIB = 1024;
/** No multiple of anything, and larger than what a source is likely to keep in one piece. */
const SIZE = 9 * KIB * KIB + 4321;

/** A source over the content that was asked for, and what the test may do to what stands behind it. */
export interface SourceUnderTest {
  readonly source: ChunkSource;
  /** Makes the content impossible to read from now on (a server that is gone, a file that is cut). */
  breakContent?(): Promise<void>;
  /** Takes away what was set up. */
  dispose?(): Promise<void>;
}

/** Opens a source over exactly this content. `signal` cancels the opening, where that can take long. */
export type MakeSource = (content: Uint8Array, signal?: AbortSignal) => Promise<SourceUnderTest>;

/** Opens sources over one content: made for the test, or one that is there already. */
export interface SourceFixture {
  readonly content: Uint8Array;
  open(signal?: AbortSignal): Promise<SourceUnderTest>;
  /** A source without content, where one can be made. */
  openEmpty?(): Promise<SourceUnderTest>;
}

/** A fixture over content that compresses badly and in which no part is like another; the same each time. */
export function madeFixture(make: MakeSource): SourceFixture {
  const content = patternlessBytes(SIZE);
  return {
    content,
    open: (signal) => make(content, signal),
    openEmpty: () => make(new Uint8Array(0)),
  };
}
