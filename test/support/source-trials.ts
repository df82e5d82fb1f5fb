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
const [BEFORE_SHA256, AFTER_SHA256] = [sha256(BEFORE), sha256(AFTER)];

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
 * nobody may accept anything but the one or the other content, and whoever fails must be told that it is the file.
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
    await apply(path, change, random);
    for (const result of await Promise.all(running)) judge(change, result, count, cli);
    judge(change, await outcome(port, { retryForMs: 0 }), count, cli);
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
  { result, code, message, sha256 }: Outcome,
  count: RoundCount,
  cli: CliProcess,
): void {
  if (result === 'PASS') {
    count.passed++;
    expect(sha256 === BEFORE_SHA256 || (change === 'overwritten' && sha256 === AFTER_SHA256)).toBe(true);
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

async function apply(path: string, change: Change, random: Random): Promise<void> {
  if (change === 'truncated') await truncate(path, random.below(BEFORE.length));
  else if (change === 'grown') await writeFile(path, AFTER.subarray(0, 1 + random.below(MIB)), { flag: 'a' });
  else if (change === 'deleted') await rm(path);
  else if (change === 'renamed over') {
    await writeFile(`${path}.new`, AFTER.subarray(0, random.below(AFTER.length)));
    await rename(`${path}.new`, path);
  } else {
    const file = await open(path, 'r+');
    await file.write(AFTER, 0, AFTER.length, 0);
    await file.close();
  }
}

function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
