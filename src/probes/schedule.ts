import { createHash } from 'node:crypto'
import { SECOND } from '../lib/index.ts'

/**
 * The first time after `now` on the probe's own grid, epoch ms. The grid is the interval, shifted by a hash of the id: so the
 * probes that somebody creates at once spread evenly over it, and what was missed is made up for by one run.
 */
export function nextRunAt(id: string, intervalSeconds: number, now: number): number {
  const interval = intervalSeconds * SECOND
  const offset = createHash('sha256').update(id).digest().readUIntBE(0, 6) % interval
  return Math.floor((now - offset) / interval) * interval + offset + interval
}
