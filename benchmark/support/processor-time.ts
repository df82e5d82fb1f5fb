import { readFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { listThreads } from './threads.js';

/** The kernel counts processor time in /proc in units of 10 ms (USER_HZ, the same on every Linux). */
const TICKS_PER_SECOND = 100;

/**
 * Seconds that all processors have worked since the machine started, interrupts included, time stolen by other
 * virtual machines not. Everything that runs on the machine is in it.
 */
export function machineSeconds(): number {
  const [user = 0, nice = 0, system = 0, , , irq = 0, softirq = 0] =
    /^cpu +(.*)$/m.exec(readFileSync('/proc/stat', 'utf8'))?.[1]?.split(' ').map(Number) ?? [];
  return (user + nice + system + irq + softirq) / TICKS_PER_SECOND;
}

/** The share of the machine (0 to 1) that is busy with other things, over one second. */
export async function backgroundLoad(): Promise<number> {
  const [before, startedAt] = [machineSeconds(), performance.now()];
  await delay(1_000);
  const elapsed = (performance.now() - startedAt) / 1000;
  return (machineSeconds() - before) / (elapsed * cpus().length);
}

/** Processor seconds of the busiest thread of a process other than its main one: in a client, the digest thread. */
export function busiestThreadSeconds(pid: number): number {
  const others = listThreads(pid).filter(({ id }) => id !== pid);
  return Math.max(0, ...others.map(({ ticks }) => ticks)) / TICKS_PER_SECOND;
}

/** Processor seconds of all threads of a process so far. */
export function processSeconds(pid: number): number {
  return listThreads(pid).reduce((total, { ticks }) => total + ticks, 0) / TICKS_PER_SECOND;
}
