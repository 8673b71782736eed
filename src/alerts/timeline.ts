/** Entries that a response holds of a timeline's beginning, and again of its end: people and reminders can add any number. */
const AT_EACH_END = 250

/** Changes that people may make to one alert or incident in a minute: each adds an entry to its timeline and to the audit log. */
export const BY_HAND_PER_MINUTE = 30

interface TimelineEnds<E> {
  lines: E[]
  /** How many entries between beginning and end are left out. */
  leftOut: number
}

/**
 * Returns the beginning and the end of a timeline, oldest first.
 *
 * @param read reads at most `limit` entries, ordered by id
 * @param count counts all entries; called only when the timeline is too long
 */
export async function endsOfTimeline<E extends { id: string }>(
  read: (order: 'asc' | 'desc', limit: number) => Promise<E[]>,
  count: () => Promise<{ count: number }>,
): Promise<TimelineEnds<E>> {
  const first = await read('asc', AT_EACH_END)
  if (first.length < AT_EACH_END) return { lines: first, leftOut: 0 }
  const last = await read('desc', AT_EACH_END)
  const lines = new Map([...first, ...last.reverse()].map((line) => [line.id, line]))
  const leftOut = Number((await count()).count) - lines.size
  return { lines: [...lines.values()], leftOut: Math.max(0, leftOut) }
}
