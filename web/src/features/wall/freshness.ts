/** An answer comes once a minute at least; three that are missing are no accident, ms. */
const STALE_MS = 3 * 60_000

export interface Freshness {
  /** How old what is shown is, where that is too old to be believed: when it was read, epoch ms. */
  staleSince: number | null
}

interface Known {
  /** Since when there is no connection, epoch ms; null: there is one. */
  cutOff: number | null
  /** When the last answer came, epoch ms; 0: none did. */
  readAt: number
  now: number
}

/** Whether what is shown may be taken for the present: a wall is believed, whatever the connection does. */
export function freshnessOf({ cutOff, readAt, now }: Known): Freshness {
  if (readAt === 0) return { staleSince: null }
  const isStale = cutOff !== null || now - readAt > STALE_MS
  return { staleSince: isStale ? readAt : null }
}
