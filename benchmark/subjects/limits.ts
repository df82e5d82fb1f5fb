import { fileURLToPath } from 'node:url';
import { runCommand } from '../support/command.js';

const LOOPBACK = fileURLToPath(new URL('loopback.js', import.meta.url));

/** Seconds to copy `size` bytes in memory, 1 MiB at a time from and to 256 MiB that are touched already. */
export function timeMemoryCopy(size: number): number {
  const length = Math.min(size, 2 ** 27);
  const [from, to] = [Buffer.alloc(length, 1), Buffer.alloc(length, 2)];
  const startedAt = performance.now();
  for (let done = 0; done < size; done += 2 ** 20) {
    const at = done % length;
    from.copy(to, at, at, Math.min(at + 2 ** 20, length));
  }
  return (performance.now() - startedAt) / 1000;
}

/** Seconds to move `size` bytes over loopback TCP between two Node processes that do nothing with them. */
export async function timeLoopback(size: number): Promise<number> {
  const { stdout } = await runCommand([process.execPath, LOOPBACK, `${size}`]);
  return Number(stdout);
}
