import { HOUR, MINUTE, SECOND } from '../../lib/index.ts'

const FIRST_MS = 10 * SECOND
/** With the jitter an hour. */
const LONGEST_MS = 50 * MINUTE
/** So that channels that failed together do not all come back together. */
const JITTER = 0.2
/** A service that says 0 would be asked without pause. */
const SHORTEST_ASKED_MS = SECOND

/**
 * How long a channel waits after its `failures`th failure in a row, ms: 10 s, doubled each time up to an hour. A service that
 * says how long to wait (`Retry-After`) knows better, up to an hour too: a server gone wrong may say a year.
 *
 * @param random of 0 … 1
 */
export function backoffMs(failures: number, retryAfterMs: number | undefined, random: number): number {
  if (retryAfterMs !== undefined) return Math.min(HOUR, Math.max(SHORTEST_ASKED_MS, retryAfterMs))
  const base = Math.min(LONGEST_MS, FIRST_MS * 2 ** (failures - 1))
  return Math.round(base * (1 + JITTER * random))
}
