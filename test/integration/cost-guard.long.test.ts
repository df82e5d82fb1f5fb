import { beforeAll, describe, expect, test } from '@jest/globals';
import { isInstalled } from '../../benchmark/support/installed.js';
import { type Calls, callsPerChunk } from '../support/cost-per-chunk.js';
import { processorCost } from '../support/processor-cost.js';
import { withTempFolder } from '../support/temp-folder.js';

/** Calls with which threads wait for each other and for the kernel: how many there are depends on the machine's load. */
const WAITING = ['total', 'futex', 'epoll_pwait', 'sched_yield', 'mprotect', 'madvise'];
/** Calls that take memory from the system or give it back. */
const MEMORY = ['mmap', 'munmap', 'mremap', 'brk'];

function total(calls: Calls, names: (name: string) => boolean): number {
  return Object.entries(calls).reduce((sum, [name, count]) => sum + (names(name) ? count : 0), 0);
}

/** strace is there on Linux where it is installed; CI installs it. */
const withStrace = process.env.CI === 'true' || isInstalled('strace') ? describe : describe.skip;

withStrace('one more raw chunk of 256 KiB (needs strace)', () => {
  let server: Calls;
  let client: Calls;
  beforeAll(async () => {
    ({ server, client } = await withTempFolder(callsPerChunk));
  });
  const working = (calls: Calls) => total(calls, (name) => !WAITING.includes(name));
  const writing = (calls: Calls) =>
    total(calls, (name) => /^(writev|sendmsg|pwritev?2?|pwrite64)$/.test(name));

  test('costs the server fewer than five system calls, reading for its first pass included', () => {
    expect(working(server)).toBeGreaterThan(0.2); // less would mean that nothing was counted
    expect(working(server)).toBeLessThan(5);
  });

  test('costs the client fewer than ten', () => {
    expect(working(client)).toBeGreaterThan(0.2);
    expect(working(client)).toBeLessThan(10);
  });

  test('leaves the server together with others, several to a write', () => {
    expect(writing(server)).toBeLessThan(0.9);
  });

  test('reaches the file in at most one write', () => {
    expect(writing(client)).toBeLessThan(1.1);
  });

  test('takes no memory from the system', () => {
    for (const side of [server, client]) {
      expect(total(side, (name) => MEMORY.includes(name))).toBeLessThan(0.5);
    }
  });
});

test('a raw transfer costs the client less than four, the server less than one and a half times the hashing of its bytes', async () => {
  const { server, client } = await withTempFolder(processorCost);
  expect(client).toBeLessThan(4);
  expect(server).toBeLessThan(1.5);
});
