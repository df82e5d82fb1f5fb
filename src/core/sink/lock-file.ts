import { createHash } from 'node:crypto';
import { lstat, readFile, rm, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { dirname, join } from 'node:path';
import { systemCode, WireBoundError } from '../errors.js';
import { escapeForTerminal } from '../escape.js';
import { processStart, UNKNOWN_START } from './process-start.js';

const ATTEMPTS = 8;
/** An owner writes its claim right after creating the file; an empty file older than this was left by a crash. */
const CLAIM_GRACE_MS = 10_000;
const CLAIM = /^([1-9]\d{0,9}) (\S+) (\S+)\n$/;

/**
 * Takes the lock file `path`: `PID START HOST` of the one process that may go on. Resolves to a function that
 * gives it back, or to undefined while another living process holds it. A file of a dead process, or one that
 * a crash left half written, is taken over; an owner on another host counts as alive. Throws SINK_UNSAFE for
 * anything there that is not a regular file, and system errors.
 */
export async function takeLockFile(path: string): Promise<(() => Promise<void>) | undefined> {
  const claim = `${process.pid} ${(await processStart(process.pid)) ?? UNKNOWN_START} ${hostname()}\n`;
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    try {
      await writeFile(path, claim, { flag: 'wx' });
      return () => rm(path, { force: true });
    } catch (error) {
      if (systemCode(error) !== 'EEXIST') throw error;
    }
    const text = await readLockFile(path);
    if (text === undefined) continue;
    if (await isHeld(path, text)) return undefined;
    await removeStale(path, text);
  }
  return undefined;
}

async function isHeld(path: string, text: string): Promise<boolean> {
  const [, pid, start, host] = CLAIM.exec(text) ?? [];
  if (pid === undefined) {
    const facts = await lstat(path).catch(() => undefined);
    return facts !== undefined && Date.now() - facts.mtimeMs < CLAIM_GRACE_MS;
  }
  if (host !== hostname()) return true;
  const running = await processStart(Number(pid));
  if (running === undefined) return false;
  return running === start || running === UNKNOWN_START || start === UNKNOWN_START;
}

/**
 * Of several processes that found the same stale claim only one may remove it, and none may remove the one that
 * another has just written instead. So each stale claim is guarded by a lock file of its own, named by its digest.
 */
async function removeStale(path: string, stale: string): Promise<void> {
  const digest = createHash('sha256').update(`${path}\0${stale}`).digest('hex').slice(0, 16);
  const unguard = await takeLockFile(join(dirname(path), `.wirebound-${digest}`));
  if (unguard === undefined) return;
  try {
    if ((await readLockFile(path)) === stale && !(await isHeld(path, stale))) await rm(path, { force: true });
  } finally {
    await unguard();
  }
}

async function readLockFile(path: string): Promise<string | undefined> {
  try {
    if ((await lstat(path)).isFile()) return await readFile(path, 'latin1');
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return undefined;
    throw error;
  }
  const shown = escapeForTerminal(path);
  throw new WireBoundError('SINK_UNSAFE', `${shown} is not a regular file`, {
    suggestions: [`remove ${shown}`],
  });
}
