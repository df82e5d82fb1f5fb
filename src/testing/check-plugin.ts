import { CodecRegistry } from '../core/codec/codec-registry.js';
import { toWireBoundError } from '../core/errors.js';
import { loadPlugin } from '../core/plugin/load-plugin.js';
import { packageVersion } from '../core/plugin/package-version.js';
import { resolvePlugin } from '../core/plugin/resolve-plugin.js';
import { SourceRegistry } from '../core/source/source-registry.js';
import { checkSubject } from './check-subject.js';
import type { CodecFigures } from './codec-speed.js';
import type { CaseResult } from './run-contract.js';

/** How a plugin is checked. */
export interface CheckOptions {
  /** What its sources are to open; without one they are not checked. */
  readonly reference?: string | undefined;
  /** Path of a file with what must come out of the reference. */
  readonly content?: string | undefined;
  /** Path of a file that its codecs encode; log text and zeros unless given. */
  readonly sample?: string | undefined;
  /** The longest that one case may take; 60 s unless given. */
  readonly timeoutMs?: number | undefined;
  readonly onEvent: (event: CheckEvent) => void;
}

/** What a check tells, in the order it happens; with `--json`, one line each. */
export type CheckEvent =
  | {
      readonly event: 'plugin';
      readonly name: string;
      readonly version?: string;
      readonly codecs: readonly string[];
      readonly sources: readonly string[];
    }
  | ({ readonly event: 'case'; readonly kind: 'codec' | 'source'; readonly name: string } & CaseResult)
  | ({ readonly event: 'figures'; readonly name: string } & CodecFigures)
  | { readonly event: 'warning'; readonly message: string }
  | { readonly event: 'check'; readonly kept: number; readonly broken: number; readonly notRun: number };

/** How many promises were kept. */
export type CheckSummary = Omit<Extract<CheckEvent, { event: 'check' }>, 'event'>;

/**
 * Runs the contracts on everything that a plugin brings; `specifier` is what `--plugin` takes. Rejects with
 * PLUGIN_FAILED when it cannot be loaded at all.
 */
export async function checkPluginAt(specifier: string, options: CheckOptions): Promise<CheckSummary> {
  const { onEvent, reference, content, sample, timeoutMs = 60_000 } = options;
  const folder = process.cwd();
  const module = resolvePlugin(specifier, { folder, packagesFrom: folder });
  const plugin = await loadPlugin(specifier, { folder, packagesFrom: folder });
  const codecs = plugin.codecs.map(({ name }) => name);
  const sources = plugin.sources.map(({ name }) => name);
  const version = packageVersion(module);
  onEvent({
    event: 'plugin',
    name: plugin.name,
    ...(version === undefined ? {} : { version }),
    codecs,
    sources,
  });
  const counts = { kept: 0, broken: 0, 'not run': 0 };
  const subjects = [
    ...codecs.map((name) => ({ kind: 'codec' as const, name })),
    ...sources.map((name) => ({ kind: 'source' as const, name })),
  ];
  for (const subject of subjects) {
    const result = (found: CaseResult) => {
      counts[found.outcome]++;
      onEvent({ event: 'case', ...subject, ...found });
    };
    result(checkName(subject));
    if (subject.kind === 'source' && reference === undefined) {
      result({
        title: 'the source contract',
        outcome: 'not run',
        reason: 'give it something to open: --reference',
      });
      continue;
    }
    const job = { ...subject, module, timeoutMs, ...given({ reference, content, sample }) };
    await checkSubject(job, {
      result,
      figures: (figures) => {
        for (const each of figures) onEvent({ event: 'figures', name: subject.name, ...each });
      },
    });
  }
  if (subjects.length === 0)
    onEvent({ event: 'warning', message: `${plugin.name} brings no codec and no source` });
  const summary = { kept: counts.kept, broken: counts.broken, notRun: counts['not run'] };
  onEvent({ event: 'check', ...summary });
  return summary;
}

function checkName({ kind, name }: { readonly kind: 'codec' | 'source'; readonly name: string }): CaseResult {
  const title = 'its name can be registered';
  try {
    (kind === 'codec' ? new CodecRegistry() : new SourceRegistry()).check(name, 'this plugin');
    return { title, outcome: 'kept' };
  } catch (error) {
    return { title, outcome: 'broken', reason: toWireBoundError(error).message };
  }
}

function given<T extends object>(options: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as never;
}
