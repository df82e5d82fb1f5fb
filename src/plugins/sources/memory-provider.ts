import type { Readable } from 'node:stream';
import type { ChunkSource, OpenOptions, SourceProvider } from '../../core/source/chunk-source.js';
import { isPath } from './is-path.js';
import type { MemoryContent } from './memory-content.js';
import { openRegularFile } from './open-regular-file.js';
import { takeInFile, takeInStream } from './take-in.js';

/** What {@link createMemoryProvider} can be given. */
export interface MemoryProviderOptions {
  /** Standard input; taken when `-` is opened. Default: the process's own. */
  readonly stdin?: () => Readable & { readonly isTTY?: boolean };
}

/** Makes the provider `memory`: takes in standard input or a file whole, up to `memoryLimit`. */
export function createMemoryProvider(options: MemoryProviderOptions = {}): SourceProvider {
  const stdin = options.stdin ?? (() => process.stdin);
  return {
    name: 'memory',
    accepts: (reference) => reference === '-' || isPath(reference),
    open: (reference, openOptions) =>
      reference === '-' ? openStream(stdin(), openOptions) : openFile(reference, openOptions),
  };
}

async function openStream(
  stream: Readable & { readonly isTTY?: boolean },
  options: OpenOptions,
): Promise<ChunkSource> {
  const content = await takeInStream(stream, options);
  return {
    name: options.name ?? 'stdin',
    description: 'standard input, in memory',
    ...contentMethods(content),
  };
}

async function openFile(reference: string, options: OpenOptions): Promise<ChunkSource> {
  const file = await openRegularFile(reference, options);
  try {
    const content = await takeInFile(file, options);
    const { name, mtimeMs, executable } = file;
    return { name, mtimeMs, executable, description: 'a copy in memory', ...contentMethods(content) };
  } finally {
    await file.close();
  }
}

function contentMethods(content: MemoryContent): Pick<ChunkSource, 'size' | 'read' | 'close'> & {
  lend: NonNullable<ChunkSource['lend']>;
} {
  return {
    size: content.size,
    read: async (offset, into) => content.read(offset, into),
    lend: async (offset, length) => content.lend(offset, length),
    close: async () => {},
  };
}
