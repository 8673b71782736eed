/** Lines of a timeline that an answer holds of its beginning, and as many of its end: what people and reminders add to it has no end. */
const AT_EACH_END = 250

/** That people may make in a minute to one alert or incident: each is a line of its timeline and of the audit log. */
export const BY_HAND_PER_MINUTE = 30

interface TimelineEnds<E> {
  lines: E[]
  /** How many lie between the first and the last of them. */
  leftOut: number
}

/**
 * The beginning and the end of a timeline, the oldest first.
 *
 * @param read its lines in the order of their ids, so many at most
 * @param count how many there are; asked where it is too long
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
