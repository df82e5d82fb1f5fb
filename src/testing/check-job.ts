import type { CodecFigures } from './codec-speed.js';
import type { CaseResult } from './run-contract.js';

/** What is checked in one worker. */
export interface CheckJob {
  /** URL of the plugin's module. */
  readonly module: string;
  readonly kind: 'codec' | 'source';
  readonly name: string;
  /** Cases that an earlier worker has dealt with. */
  readonly skip: number;
  readonly timeoutMs: number;
  /** What a source is to open. */
  readonly reference?: string;
  /** Path of a file with the content that must come out of it; otherwise what a first pass reads is right. */
  readonly content?: string;
  /** Path of a file that a codec encodes, where it refuses the usual samples. */
  readonly sample?: string;
}

/** What a worker tells, in this order: the plan, then start and result of each case, then figures, then the end. */
export type CheckMessage =
  | { readonly kind: 'plan'; readonly titles: readonly string[] }
  | { readonly kind: 'start'; readonly title: string }
  | { readonly kind: 'result'; readonly result: CaseResult }
  | { readonly kind: 'figures'; readonly figures: readonly CodecFigures[] }
  | { readonly kind: 'end' };
