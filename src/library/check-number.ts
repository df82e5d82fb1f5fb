import { WireBoundError } from '../core/errors.js';

/** A range that an option of the library must lie in. */
export interface NumberRange {
  readonly from: number;
  readonly to: number;
  /** Also a multiple of this. */
  readonly step?: number;
}

/** Throws USAGE unless `value` is a whole number in that range; callers of a library may not have types. */
export function checkNumber(option: string, value: unknown, { from, to, step = 1 }: NumberRange): void {
  if (Number.isSafeInteger(value)) {
    const number = value as number;
    if (number >= from && number <= to && number % step === 0) return;
  }
  const multiple = step === 1 ? 'a whole number' : `a multiple of ${step}`;
  throw new WireBoundError(
    'USAGE',
    `${option} ${String(value)} is not valid: give ${multiple} from ${from} to ${to}`,
  );
}
