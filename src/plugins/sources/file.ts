import { definePlugin } from '../../core/plugin/plugin.js';
import type { ChunkSource, SourceProvider } from '../../core/source/chunk-source.js';
import { isPath } from './is-path.js';
import { openRegularFile } from './open-regular-file.js';

/** Reads a regular file with positional reads; works on every machine and lends nothing. */
const provider: SourceProvider = {
  name: 'file',
  accepts: isPath,
  async open(reference, options): Promise<ChunkSource> {
    const file = await openRegularFile(reference, options);
    return {
      name: file.name,
      size: file.size,
      mtimeMs: file.mtimeMs,
      executable: file.executable,
      description: 'positional reads',
      read: (offset, into) => file.read(offset, into),
      identity: () => file.identity(),
      close: () => file.close(),
    };
  },
};

export default definePlugin({ name: 'file', sources: [provider] });
