import type { Limit, ServerWaits } from '../framing/messages.js';
import type { StageTimes } from './stage-times.js';

/** The limit, and the share of the transfer's time behind it. */
export interface LimitFinding {
  readonly limitedBy: Limit;
  /** 0 to 1. */
  readonly share: number;
  /** What the server itself waited for, where it was the limit. */
  readonly serverLimit?: 'source' | 'digest' | 'codec' | 'rate';
}

/**
 * Derives the limit from where the pipeline waited. The digest thread is where everything meets: its time is
 * hashing, decoding, waiting for the disk, or waiting for bytes; in the last case the server tells whether
 * it was waiting too, for its own work or for the network. A short file fits into the kernel's buffers: then the
 * server has not waited at all, and the network it is. `flushMs`: making the file durable at the end.
 */
export function findLimit(times: StageTimes, waits: ServerWaits, flushMs: number): LimitFinding {
  const own = {
    source: waits.sourceMs,
    digest: waits.digestMs,
    codec: waits.codecMs,
    rate: waits.rateMs,
  } as const;
  const [serverLimit] = largest(own);
  const ownMs = own.source + own.digest + own.codec + own.rate;
  const networkMs = Math.max(waits.networkMs, times.starvedMs - ownMs);
  const spent: Readonly<Record<Limit, number>> = {
    digest: times.hashMs,
    codec: times.decodeMs,
    disk: times.blockedMs + flushMs,
    server: ownMs > networkMs ? times.starvedMs : 0,
    network: ownMs > networkMs ? 0 : times.starvedMs,
  };
  const total = Object.values(spent).reduce((sum, ms) => sum + ms, 0);
  const [limitedBy, ms] = largest(spent);
  const share = total === 0 ? 0 : ms / total;
  return limitedBy === 'server' ? { limitedBy, share, serverLimit } : { limitedBy, share };
}

function largest<Name extends string>(spent: Readonly<Record<Name, number>>): [Name, number] {
  const entries = Object.entries(spent) as [Name, number][];
  return entries.reduce((most, entry) => (entry[1] > most[1] ? entry : most));
}
