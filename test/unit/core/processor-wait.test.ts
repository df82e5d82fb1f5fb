import { expect, test } from '@jest/globals';
import { runModule } from '../../support/run-module.js';

const onLinux = process.platform === 'linux' ? test : test.skip;

/** Sleeps; then shares its only processor with another process until it has waited for 100 ms, or 20 s have passed. */
const SHARING = `
  import { spawn } from 'node:child_process';
  import { processorWaitMs } from '#dist/core/processor-wait.js';
  const start = processorWaitMs();
  await new Promise((resolve) => setTimeout(resolve, 2000));
  const asleep = processorWaitMs() - start;
  const rival = spawn(process.execPath, ['-e', 'for (const end = Date.now() + 20_000; Date.now() < end; );']);
  const waited = () => processorWaitMs() - start - asleep;
  for (const end = Date.now() + 20_000; waited() < 100 && Date.now() < end; );
  console.log(JSON.stringify({ asleep, waited: waited() }));
  rival.kill('SIGKILL');
`;

onLinux(
  'tells how long a process was ready to run without a processor, but not how long it slept',
  async () => {
    const { stdout, stderr } = await runModule(SHARING, [], ['taskset', '-c', '0']).finished;
    expect(stderr).toBe('');
    const { asleep, waited } = JSON.parse(stdout) as { asleep: number; waited: number };
    expect(asleep).toBeLessThan(1000);
    expect(waited).toBeGreaterThanOrEqual(100);
  },
);

test('is nothing, and no error, where the system does not tell', async () => {
  const { stdout, stderr } = await runModule(`
    Object.defineProperty(process, 'platform', { value: 'darwin' });
    const { processorWaitMs } = await import('#dist/core/processor-wait.js');
    console.log(processorWaitMs());
  `).finished;
  expect([stdout, stderr]).toEqual(['0\n', '']);
});
