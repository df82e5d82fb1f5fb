/** Descriptors kept for everything that is not a client. */
const RESERVED_DESCRIPTORS = 64;
const MOST_CLIENTS = 4096;

/** The most clients at once: what was asked for, bounded by the process's limit of open files. */
export function clientLimit(wanted: number | undefined): number {
  const most = Math.max(1, Math.min(MOST_CLIENTS, openFileLimit() - RESERVED_DESCRIPTORS));
  return Math.min(wanted ?? most, most);
}

function openFileLimit(): number {
  // On Windows there is no such limit and no such field.
  const report = process.report?.getReport() as
    | { userLimits?: { open_files?: { soft?: number | string } } }
    | undefined;
  const soft = report?.userLimits?.open_files?.soft;
  return typeof soft === 'number' ? soft : Number.POSITIVE_INFINITY;
}
