import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runCommand } from '../../benchmark/support/command.js';
import { processSeconds } from '../../benchmark/support/processor-time.js';
import { writeContentFile } from './random-file.js';
import { startServe } from './run-cli.js';

const SIZE = 192 * 2 ** 20;
const TIMES = 2;
const GET_AND_HASH = fileURLToPath(new URL('get-and-hash.js', import.meta.url));

/** Processor time of both sides of a raw transfer, as multiples of hashing the same bytes in the same run. */
export async function processorCost(
  folder: string,
): Promise<{ readonly server: number; readonly client: number }> {
  const file = join(folder, 'served');
  await writeContentFile(file, 'random', SIZE);
  const { cli, port } = await startServe([file, '--codec', 'none']);
  await cli.event('digest');
  const before = processSeconds(cli.pid);
  const { stdout } = await runCommand([process.execPath, GET_AND_HASH, ...[port, TIMES, SIZE].map(String)]);
  const { get, hash } = JSON.parse(stdout) as { get: number; hash: number };
  // The server's part includes one transfer more: the client's warm-up.
  const server = ((processSeconds(cli.pid) - before) * TIMES) / (TIMES + 1);
  return { server: server / hash, client: get / hash };
}
