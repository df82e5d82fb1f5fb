import { describe, expect, test } from '@jest/globals';
import { clientLimit } from '#dist/core/server/client-limit.js';
import { runModule } from '../../../support/run-module.js';

describe('clientLimit', () => {
  test('what is asked for holds, up to what the process can take', () => {
    expect(clientLimit(1)).toBe(1);
    const most = clientLimit(undefined);
    expect(most).toBeLessThanOrEqual(4096);
    expect(clientLimit(1_000_000)).toBe(most);
  });

  test.each([
    [164, 100],
    [65, 1],
    [50, 1],
    [1000, 936],
  ])('with %i descriptors there are at most %i clients', async (descriptors, clients) => {
    const code = `
      import { clientLimit } from '#dist/core/server/client-limit.js';
      process.stdout.write([clientLimit(undefined), clientLimit(5000), clientLimit(1)].join());`;
    const { stdout, stderr } = await runModule(code, [], ['prlimit', `--nofile=${descriptors}`]).finished;
    expect(stderr).toBe('');
    expect(stdout).toBe(`${clients},${clients},1`);
  });
});
