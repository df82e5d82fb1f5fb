import type { Workspace } from '../support/workspace.js';

/** What a target's measurement may use. */
export interface TargetContext {
  readonly workspace: Workspace;
  /** Bytes of the file, where the target leaves a choice. */
  readonly size: number;
  /** Alternating pairs that count. */
  readonly pairs: number;
  /** Connected clients in the memory target. */
  readonly crowd: number;
  readonly tell: (line: string) => void;
}

/** One figure beside what was to be reached. */
export interface Figure {
  readonly what: string;
  readonly value: number;
  /** Undefined: reported only. */
  readonly bound?: number;
  /** What the bound is: a most (the default), or a least. */
  readonly boundIs?: 'most' | 'least';
  /** What would be better still. */
  readonly aim?: number;
  /** Behind each number (`MiB`, `ms`); ratios have none. */
  readonly unit?: string;
  /** What else was seen, for people. */
  readonly note?: string;
}

/** A figure that could not be taken. */
export interface Skipped {
  readonly what: string;
  readonly skipped: string;
}

/** One numbered target of docs/benchmarks.md. */
export interface Target {
  readonly number: number;
  readonly title: string;
  measure(context: TargetContext): Promise<readonly (Figure | Skipped)[]>;
}

/** Whether a figure is what it should be; undefined where nothing was asked. */
export function isMet({ value, bound, boundIs = 'most' }: Figure): boolean | undefined {
  if (bound === undefined) return undefined;
  return boundIs === 'most' ? value <= bound : value >= bound;
}
