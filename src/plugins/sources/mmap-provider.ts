import { WireBoundError } from '../../core/errors.js';
import type { ChunkSource, OpenOptions, SourceProvider } from '../../core/source/chunk-source.js';
import { isPath } from './is-path.js';
import { koffiBinding } from './mapping/koffi-binding.js';
import { MappedSource } from './mapping/mapped-source.js';
import { MappedWindows } from './mapping/mapped-windows.js';
import type { MappingBinding } from './mapping/mapping-binding.js';
import { mmapIoBinding } from './mapping/mmap-io-binding.js';
import { openRegularFile } from './open-regular-file.js';
import type { RegularFile } from './regular-file.js';

/** The share of the memory limit that pages of the file are trusted to keep: others fill the page cache too. */
const TRUSTED_SHARE = 0.5;

/** What {@link createMmapProvider} can be given. */
export interface MmapProviderOptions {
  /** Ways to map, best first; the first one that works here, takes the file's size and passes the check is used. */
  readonly bindings?: readonly MappingBinding[];
}

/** Makes the provider `mmap`. Throws SOURCE_UNAVAILABLE from `open` where a good file cannot be mapped. */
export function createMmapProvider(options: MmapProviderOptions = {}): SourceProvider {
  const bindings = options.bindings ?? [mmapIoBinding, koffiBinding];
  const unavailable = (): string | undefined =>
    bindings.some((binding) => binding.unavailable() === undefined)
      ? undefined
      : `neither ${bindings.map(({ name }) => name).join(' nor ')} can be loaded on this machine`;
  return {
    name: 'mmap',
    accepts: isPath,
    unavailable,
    async open(reference, openOptions: OpenOptions): Promise<ChunkSource> {
      const file = await openRegularFile(reference, openOptions);
      try {
        const reason = unavailable();
        if (reason !== undefined) throw cannotMap(file, reason);
        return await openMapped(file, bindings, openOptions);
      } catch (error) {
        await file.close();
        throw error;
      }
    },
  };
}

async function openMapped(
  file: RegularFile,
  bindings: readonly MappingBinding[],
  { automatic, memoryLimit }: OpenOptions,
): Promise<ChunkSource> {
  const usable = bindings.filter(
    (binding) => binding.unavailable() === undefined && binding.accepts(file.size),
  );
  const windows = new MappedWindows(file, usable);
  const capacity = memoryLimit * TRUSTED_SHARE;
  if (file.size === 0) {
    if (automatic === true) throw cannotMap(file, 'an empty file has nothing to map');
    return new MappedSource(file, windows, 'mmap, of an empty file', capacity);
  }
  const loan = await windows.lend(0, 1);
  if (loan === undefined) throw cannotMap(file, windows.refusals.join('; ') || 'no binding takes its size');
  loan.release();
  return new MappedSource(file, windows, `mmap through ${windows.bindingName}`, capacity);
}

function cannotMap(file: RegularFile, reason: string): WireBoundError {
  return new WireBoundError('SOURCE_UNAVAILABLE', `${file.label} cannot be mapped: ${reason}`, {
    suggestions: ['use --source file'],
  });
}
