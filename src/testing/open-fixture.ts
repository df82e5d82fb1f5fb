import { tmpdir } from 'node:os';
import type { ChunkSource, SourceProvider, StreamSource } from '../core/source/chunk-source.js';
import { hostSource } from '../core/source/host-source.js';
import type { SourceFixture, SourceUnderTest } from './source-under-test.js';

/** The largest content that is held in memory to compare with, bytes. */
const LARGEST = 64 * 1024 * 1024;
const PIECE = 1024 * 1024;

/**
 * A fixture over something that a provider opens. `content` is what must come out of it; where that is not known,
 * what one pass from front to back reads is taken for right, so that only what contradicts it is found.
 */
export async function openFixture(
  provider: SourceProvider<ChunkSource | StreamSource>,
  reference: string,
  content?: Uint8Array,
): Promise<SourceFixture> {
  const open = async (signal?: AbortSignal): Promise<SourceUnderTest> => {
    const options = { memoryLimit: LARGEST, ...(signal === undefined ? {} : { signal }) };
    const opened = await provider.open(reference, options);
    if (!('stream' in opened)) return { source: opened };
    const hosting = { ...options, provider: provider.name, reference, spoolFolder: tmpdir() };
    return { source: (await hostSource(opened, hosting)).source };
  };
  return { content: content ?? (await readThrough(open)), open };
}

async function readThrough(open: () => Promise<SourceUnderTest>): Promise<Uint8Array> {
  const { source } = await open();
  try {
    if (!(source.size <= LARGEST)) {
      throw new Error(`it has ${source.size} bytes: choose something of at most ${LARGEST} to check with`);
    }
    const content = new Uint8Array(source.size);
    for (let at = 0; at < content.length; at += PIECE) {
      const piece = content.subarray(at, at + PIECE);
      const count = await source.read(at, piece);
      if (count !== piece.length) throw new Error(`it says ${source.size} bytes and ends at ${at + count}`);
    }
    return content;
  } finally {
    await source.close();
  }
}
