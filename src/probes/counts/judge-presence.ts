import type { Snapshot } from '../../analytics/index.ts'
import type { Verdict } from '../../detection/index.ts'
import { floorTo, HOUR, MINUTE } from '../../lib/index.ts'
import { type Counting, type CountsOutcome, judgeCounts, type Unjudged } from './judge-counts.ts'
import { presenceFrom } from './presence-counts.ts'
import { lastDay, type Timeline } from './timeline.ts'

/** Of the last day, what is looked at in slots, ms. */
const NEWEST_MS = 2 * HOUR

/**
 * Judges what was there on the events of the last day against the week before it, see `judgeCounts`.
 *
 * @param hasEarlier `read` asks for the weeks before that one, too
 * @param read is given the last day, and the whole minute that it ends with, as `judge` is
 */
export function judgePresence<T>(
  counting: Counting,
  read: (snapshot: Snapshot, timeline: Timeline, end: number) => Promise<T>,
  judge: (counts: T, end: number) => Verdict,
  unjudged: (counts: T) => Unjudged,
  hasEarlier = false,
): Promise<CountsOutcome> {
  const end = floorTo(counting.now, MINUTE)
  const timeline = lastDay(end, NEWEST_MS)
  return judgeCounts(
    counting,
    presenceFrom(timeline, hasEarlier),
    (snapshot) => read(snapshot, timeline, end),
    (counts) => judge(counts, end),
    unjudged,
  )
}
