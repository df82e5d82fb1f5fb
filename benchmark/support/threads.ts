import { readdirSync, readFileSync } from 'node:fs';

/** What the kernel knows of one thread; see proc_pid_stat(5). */
export interface Thread {
  readonly id: number;
  /** Page faults that needed no input. */
  readonly minorFaults: number;
  /** Page faults that had to wait for storage. */
  readonly majorFaults: number;
  /** Processor time, user and system, in units of 10 ms. */
  readonly ticks: number;
}

/** The threads a process has now; the main one has the id of the process. Empty when there is no such process. */
export function listThreads(pid: number): readonly Thread[] {
  try {
    return readdirSync(`/proc/${pid}/task`).flatMap((id) => readThread(pid, Number(id)) ?? []);
  } catch {
    return [];
  }
}

function readThread(pid: number, id: number): Thread | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/task/${id}/stat`, 'utf8');
    // The name in parentheses may hold anything; field 3 comes behind the last one.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    const field = (number: number) => Number(fields[number - 3]);
    return { id, minorFaults: field(10), majorFaults: field(12), ticks: field(14) + field(15) };
  } catch {
    return undefined; // it has ended meanwhile
  }
}
