import { runCommand } from './command.js';
import { isInstalled } from './installed.js';

/** Why {@link makeCold} cannot work here; undefined when it can. */
export function coldObstacle(): string | undefined {
  const missing = ['dd', 'fincore'].filter((program) => !isInstalled(program));
  return missing.length === 0 ? undefined : `${missing.join(' and ')} not installed`;
}

/**
 * Drops a file from the page cache, and checks that it is gone: while any process maps it, or on tmpfs, the kernel
 * keeps it without a word.
 */
export async function makeCold(path: string): Promise<void> {
  await runCommand(['sync', path]);
  await runCommand(['dd', `if=${path}`, 'iflag=nocache', 'count=0', 'status=none']);
  const { stdout } = await runCommand(['fincore', '--bytes', '--noheadings', '--output', 'RES', path]);
  const left = Number(stdout);
  if (left > 2 ** 20)
    throw new Error(`${path} is still in the page cache (${left} bytes): give a --disk that is one`);
}
