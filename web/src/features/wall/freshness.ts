/** Age from which data counts as stale, ms: answers come at least every minute, and three missing ones are no accident. */
const STALE_MS = 3 * 60_000

export interface Freshness {
  /** When the data was read, epoch ms, if it is too old to trust; else null. */
  staleSince: number | null
}

interface Known {
  /** When the connection was lost, epoch ms; null while there is one. */
  cutOff: number | null
  /** Time of the last answer, epoch ms; 0 before the first. */
  readAt: number
  now: number
}

/** Whether the data is current, which people assume of a screen on a wall. */
export function freshnessOf({ cutOff, readAt, now }: Known): Freshness {
  if (readAt === 0) return { staleSince: null }
  const isStale = cutOff !== null || now - readAt > STALE_MS
  return { staleSince: isStale ? readAt : null }
}
