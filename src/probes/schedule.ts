import { createHash } from 'node:crypto'
import { SECOND } from '../lib/index.ts'

/** A new probe says within this time what it finds, however seldom it runs. */
const FIRST_RUN_WITHIN_SECONDS = 60

/** When a probe that is created now runs for the first time, epoch ms: spread like all later runs. */
export const firstRunAt = (id: string, intervalSeconds: number, now: number): number =>
  nextRunAt(id, Math.min(intervalSeconds, FIRST_RUN_WITHIN_SECONDS), now)

/**
 * The first time after `now` on the probe's own grid, epoch ms. The grid is the interval, shifted by a hash of the id: so the
 * probes that are created at once spread evenly over it, and what was missed is made up for by one run.
 */
export function nextRunAt(id: string, intervalSeconds: number, now: number): number {
  const interval = intervalSeconds * SECOND
  const offset = createHash('sha256').update(id).digest().readUIntBE(0, 6) % interval
  return Math.floor((now - offset) / interval) * interval + offset + interval
}
