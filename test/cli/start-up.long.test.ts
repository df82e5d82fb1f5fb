import { expect, test } from '@jest/globals';
import { runCli } from '../support/run-cli.js';

/** The fastest counts: whatever else the machine does can only slow a run down. */
const ROUNDS = 15;

async function milliseconds(run: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await run();
  return performance.now() - startedAt;
}

test('--version costs at most 1.3 times a bare node and 150 ms more', async () => {
  const bare: number[] = [];
  const ours: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    bare.push(await milliseconds(() => runCli([], { under: ['sh', '-c', '"$0" -e 0'] })));
    ours.push(await milliseconds(() => runCli([], { under: ['sh', '-c', '"$0" "$1" --version'] })));
  }
  console.info(
    `node -e 0: ${Math.min(...bare).toFixed(0)} ms, wirebound --version: ${Math.min(...ours).toFixed(0)} ms`,
  );
  expect(Math.min(...ours)).toBeLessThanOrEqual(1.3 * Math.min(...bare) + 150);
});
