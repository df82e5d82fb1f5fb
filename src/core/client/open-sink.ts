import type { ManifestEntry } from '../framing/manifest.js';
import type { Destination } from '../sink/destination.js';
import { openFileSink } from '../sink/file-sink.js';
import { NullSink } from '../sink/null-sink.js';
import type { Sink } from '../sink/sink.js';
import { StdoutSink } from '../sink/stdout-sink.js';

/** Opens what takes the bytes of `entry` at its destination. Throws what {@link openFileSink} throws. */
export async function openSink(
  destination: Destination,
  entry: ManifestEntry,
  force: boolean,
): Promise<Sink> {
  if (destination.kind === 'null') return new NullSink();
  if (destination.kind === 'stdout') return new StdoutSink(process.stdout);
  const { size, mtimeMs, executable } = entry;
  return openFileSink(destination.path, {
    size,
    force,
    ...(mtimeMs === undefined ? {} : { mtimeMs }),
    ...(executable === undefined ? {} : { executable }),
  });
}
