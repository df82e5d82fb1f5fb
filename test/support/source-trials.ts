import { createHash } from 'node:crypto';
import { open, rename, rm, truncate, writeFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from '@jest/globals';
import type { CliProcess } from './cli-process.js';
import { content } from './content.js';
import type { Random } from './random.js';
import { startServe } from './run-cli.js';
import { testGet } from './test-server.js';

const MIB = 2 ** 20;
/** What the served file holds at first, and what is written over it. */
const BEFORE = content('random', 8 * MIB, 1);
const AFTER = content('random', 8 * MIB, 2);
const BEFORE_SHA256 = sha256(BEFORE);

/** What may happen to a file while it is served. */
export const CHANGES = ['truncated', 'grown', 'overwritten', 'renamed over', 'deleted'] as const;
export type Change = (typeof CHANGES)[number];

/** What one round came to. */
export interface RoundCount {
  passed: number;
  refused: number;
}

/**
 * Changes a served file at a random moment under `clients` clients, looks after each of them and after one that comes later. The server must live,
 * nobody may accept anything but the content before or after, whole, and whoever fails must be told that it is the file.
 */
export async function changeWhileServed(
  path: string,
  change: Change,
  clients: number,
  random: Random,
  count: RoundCount,
): Promise<void> {
  await writeFile(path, BEFORE);
  const { cli, port } = await startServe([path, '--chunk', '64', '--limit-rate', '120M']);
  try {
    const running = Array.from({ length: clients }, () => outcome(port, { retryForMs: 20_000 }));
    await delay(random.below(clients * 60));
    const accepted = [BEFORE_SHA256, await apply(path, change, random)];
    for (const result of await Promise.all(running)) judge(change, accepted, result, count, cli);
    judge(change, accepted, await outcome(port, { retryForMs: 0 }), count, cli);
    cli.kill('SIGINT');
    expect(await cli.finished).toMatchObject({ exitCode: 0, stderr: '' });
  } finally {
    cli.kill('SIGKILL');
    await cli.finished;
    await rm(path, { force: true });
  }
}

interface Outcome {
  readonly result?: string;
  readonly code?: string;
  readonly message?: string;
  readonly sha256?: string;
}

function outcome(port: number, options: { readonly retryForMs: number }): Promise<Outcome> {
  return testGet(port, options).catch((error: Outcome) => ({ ...error, message: error.message ?? '' }));
}

function judge(
  change: Change,
  accepted: readonly (string | undefined)[],
  { result, code, message, sha256 }: Outcome,
  count: RoundCount,
  cli: CliProcess,
): void {
  if (result === 'PASS') {
    count.passed++;
    expect(accepted).toContain(sha256 ?? 'no digest');
  } else {
    count.refused++;
    expect({ code, message, server: cli.child.exitCode }).toEqual({
      code: expect.stringMatching(/^SOURCE_(CHANGED|UNREADABLE)$/),
      message: expect.stringMatching(/truncated to \d+ of|was changed|another content|ends at byte/),
      server: null,
    });
    // Whoever reads only the old file, or the beginning that it was, has nothing to complain about.
    expect(change).toMatch(/truncated|overwritten/);
  }
}

/** Changes the file; returns the digest of the new content, where the server may find that and offer it next. */
async function apply(path: string, change: Change, random: Random): Promise<string | undefined> {
  if (change === 'truncated') {
    const length = random.below(BEFORE.length);
    await truncate(path, length);
    return sha256(BEFORE.subarray(0, length));
  }
  if (change === 'overwritten') {
    const file = await open(path, 'r+');
    await file.write(AFTER, 0, AFTER.length, 0);
    await file.close();
    return sha256(AFTER);
  }
  if (change === 'grown') await writeFile(path, AFTER.subarray(0, 1 + random.below(MIB)), { flag: 'a' });
  else if (change === 'deleted') await rm(path);
  else {
    await writeFile(`${path}.new`, AFTER.subarray(0, random.below(AFTER.length)));
    await rename(`${path}.new`, path);
  }
  return undefined;
}

function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
