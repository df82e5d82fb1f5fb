import type { RateMeter } from '../core/progress.js';
import { formatBytes, formatDuration, formatPercent, formatRate } from '../core/units.js';

/**
 * `34.2 %  112.4 MiB/s  ETA 12 s`; without a known size, `1.2 GiB  112.4 MiB/s`. Figures that are not known
 * yet are left out.
 */
export function describeProgress(meter: RateMeter, size: number | undefined): string {
  const rate = meter.rate();
  const eta = size === undefined ? undefined : meter.etaSeconds(size);
  return [
    size === undefined ? formatBytes(meter.bytes) : formatPercent(meter.bytes, size),
    ...(rate === undefined ? [] : [formatRate(rate)]),
    ...(eta === undefined ? [] : [`ETA ${formatEta(eta)}`]),
  ].join('  ');
}

/** Seconds left for people: whole seconds, rounded up, because the figure changes all the time. */
export function formatEta(seconds: number): string {
  return formatDuration(Math.ceil(seconds));
}
