import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { cpus, release, totalmem } from 'node:os';
import { ROOT } from './root.js';

/** What a result was measured on and with. */
export interface Machine {
  readonly processor: string;
  readonly processors: number;
  /** Whether the processor has SHA instructions; undefined where that cannot be told. */
  readonly shaInstructions?: boolean;
  readonly memoryGib: number;
  readonly system: string;
  readonly node: string;
  readonly openssl: string;
  readonly wirebound: string;
  /** With `+` behind it where the checkout has changes. */
  readonly commit: string;
  /** ISO 8601. */
  readonly date: string;
}

export function describeMachine(): Machine {
  const { version } = JSON.parse(readFileSync(new URL('package.json', ROOT), 'utf8')) as { version: string };
  const shaInstructions = hasShaInstructions();
  return {
    processor: cpus()[0]?.model.trim() ?? 'unknown',
    processors: cpus().length,
    ...(shaInstructions === undefined ? {} : { shaInstructions }),
    memoryGib: Math.round(totalmem() / 2 ** 30),
    system: `Linux ${release()}`,
    node: process.version,
    openssl: process.versions.openssl ?? 'unknown',
    wirebound: version,
    commit: describeCommit(),
    date: new Date().toISOString(),
  };
}

/** One line for people. */
export function machineLine(machine: Machine): string {
  const { processor, processors, shaInstructions, memoryGib, system, node, openssl, commit, date } = machine;
  const sha =
    shaInstructions === undefined ? '' : `, ${shaInstructions ? 'with' : 'without'} SHA instructions`;
  return `${processor}, ${processors} processors${sha}, ${memoryGib} GiB; ${system}, Node ${node}, OpenSSL ${openssl}; WireBound ${machine.wirebound} at ${commit}, ${date.slice(0, 16).replace('T', ' ')} UTC`;
}

function hasShaInstructions(): boolean | undefined {
  try {
    return /\b(sha_ni|sha2)\b/.test(readFileSync('/proc/cpuinfo', 'utf8'));
  } catch {
    return undefined;
  }
}

function describeCommit(): string {
  const git = (...args: string[]) => execFileSync('git', args, { cwd: ROOT, encoding: 'utf8' }).trim();
  try {
    // Results and documents change with every run; they are not what is measured.
    const changes = git('status', '--porcelain', '--', '.', ':!benchmark/results', ':!docs', ':!README.md');
    return `${git('rev-parse', '--short=12', 'HEAD')}${changes === '' ? '' : '+'}`;
  } catch {
    return 'unknown';
  }
}
