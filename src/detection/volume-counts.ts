import { DAY, floorTo, HOUR } from '../lib/index.ts'
import { type TimeRange, touchesAny } from './time.ts'
import type { UsualCount, UsualCounts } from './usual-counts.ts'

/** Events of a site. `total` and each list in `events` have one count for each of `buckets`. */
export interface BucketCounts {
  /** Oldest first, without overlaps. */
  readonly buckets: readonly TimeRange[]
  readonly total: readonly number[]
  readonly events: ReadonlyMap<string, readonly number[]>
}

/** The last 24 hours of a site. The newer buckets are five minutes long, the older ones may be longer. */
export interface RecentCounts extends BucketCounts {
  /** The newest of these buckets again, minute by minute: they show for how long no event has arrived. */
  readonly minutes: BucketCounts
}

/** Of a name, or (null) of all events. */
export const countsOf = ({ buckets, total, events }: BucketCounts, name: string | null): readonly number[] =>
  name === null ? total : (events.get(name) ?? buckets.map(() => 0))

/** Counts of the newest buckets of equal length, oldest first. */
export function slotCounts(recent: BucketCounts, name: string | null): number[] {
  const lengths = recent.buckets.map(({ from, to }) => to - from)
  const start = lengths.findLastIndex((length) => length !== lengths.at(-1)) + 1
  return countsOf(recent, name).slice(start)
}

/**
 * Drops the buckets in which the service itself was down for a while: they have fewer events than were sent, and it is not known
 * how many fewer.
 */
export const withoutOutages = (recent: RecentCounts, outages: readonly TimeRange[]): RecentCounts =>
  outages.length === 0 ? recent : { ...without(recent, outages), minutes: without(recent.minutes, outages) }

function without({ buckets, total, events }: BucketCounts, outages: readonly TimeRange[]): BucketCounts {
  const isComplete = buckets.map((bucket) => !touchesAny(bucket, outages))
  const kept = <T>(values: readonly T[]): T[] => values.filter((_, index) => isComplete[index])
  return {
    buckets: kept(buckets),
    total: kept(total),
    events: new Map(Array.from(events, ([name, counts]) => [name, kept(counts)])),
  }
}

/** The newest buckets by the minute, the others as they are. */
export function byMinute({ buckets, total, events, minutes }: RecentCounts): BucketCounts {
  const start = minutes.buckets[0]?.from ?? Number.POSITIVE_INFINITY
  const older = buckets.findLastIndex(({ to }) => to <= start) + 1
  const nothing = minutes.buckets.map(() => 0)
  return {
    buckets: [...buckets.slice(0, older), ...minutes.buckets],
    total: [...total.slice(0, older), ...minutes.total],
    events: new Map(
      Array.from(events, ([name, counts]) => [
        name,
        [...counts.slice(0, older), ...(minutes.events.get(name) ?? nothing)],
      ]),
    ),
  }
}

/** How much of the newest time nothing came in, ms; infinite where nothing came at all. */
export function quietFor(recent: BucketCounts, name: string | null): number {
  const last = countsOf(recent, name).findLastIndex((count) => count > 0)
  const end = recent.buckets.at(-1)?.to ?? 0
  return last === -1 ? Number.POSITIVE_INFINITY : end - (recent.buckets[last]?.to ?? end)
}

/** The longest stretch without events between those of the newest minutes, ms. */
export function longestGap(minutes: BucketCounts, name: string | null): number {
  const counts = countsOf(minutes, name)
  let longest = 0
  // What is still open is no gap between events.
  let gap = Number.NaN
  for (let index = counts.length - 1; index >= 0; index--) {
    const bucket = minutes.buckets[index]
    if (bucket === undefined) break
    if ((counts[index] ?? 0) === 0) {
      gap += bucket.to - bucket.from
      continue
    }
    if (gap > longest) longest = gap
    gap = 0
  }
  return longest
}

/** A subject's counts and what was to be expected of them, added up from now back. Element `n` is about the newest n + 1 buckets. */
export interface Course {
  /** End of the newest bucket. */
  readonly to: number
  /** Start of the oldest bucket. */
  readonly from: readonly number[]
  readonly measured: readonly number[]
  /** An event is expected as far as the others came, but no more often than by the clock. */
  readonly expected: readonly number[]
  /** By the clock alone. */
  readonly byClock: readonly number[]
  /** As the others came, however often. */
  readonly byOthers: readonly number[]
  /** Time that the buckets hold, ms: less than from one end to the other where buckets are left out, see `withoutOutages`. */
  readonly covered: readonly number[]
  /** The newest instant of a special day, up to which nothing is known of the site's level; −∞ where there was none. */
  readonly specialUntil: number
}

/** What is usual of all events in each of some buckets, oldest first. The courses of all names need it. */
export const siteExpectations = ({ buckets }: BucketCounts, usual: UsualCounts): Float64Array =>
  Float64Array.from(buckets, (bucket) => expectedBetween(usual.of(null), bucket))

/**
 * @param name of an event, or null for all of them
 * @param ofSite see `siteExpectations`
 */
export function courseOf(
  name: string | null,
  recent: BucketCounts,
  usual: UsualCounts,
  ofSite = siteExpectations(recent, usual),
): Course {
  const { buckets, total } = recent
  const counts = countsOf(recent, name)
  const own = usual.of(name)
  const to = buckets.at(-1)?.to ?? 0
  const from: number[] = []
  const measured: number[] = []
  const expected: number[] = []
  const byClock: number[] = []
  const byOthers: number[] = []
  const covered: number[] = []
  let [count, all, usualOwn, usualAll, time] = [0, 0, 0, 0, 0]
  for (let index = buckets.length - 1; index >= 0; index--) {
    const bucket = buckets[index]
    if (bucket === undefined) break
    const ofAll = ofSite[index] ?? Number.NaN
    const ofOwn = name === null ? ofAll : expectedBetween(own, bucket)
    // What is older cannot be compared with anything.
    if (Number.isNaN(ofOwn)) break
    count += counts[index] ?? 0
    all += total[index] ?? 0
    usualOwn += ofOwn
    usualAll += ofAll
    time += bucket.to - bucket.from
    const level = levelOfOthers(count, all, usualOwn, usualAll)
    from.push(bucket.from)
    measured.push(count)
    expected.push(name === null ? usualOwn : usualOwn * Math.min(1, level))
    byClock.push(usualOwn)
    byOthers.push(name === null ? usualOwn : usualOwn * level)
    covered.push(time)
  }
  return { from, to, measured, expected, byClock, byOthers, covered, specialUntil: usual.specialUntil(to) }
}

/** The part of a course that began at a time or later. */
export function courseSince(course: Course, time: number): Course {
  const end = course.from.findLastIndex((from) => from >= time) + 1
  const { from, measured, expected, byClock, byOthers, covered } = course
  const cut = (values: readonly number[]) => values.slice(0, end)
  return {
    ...course,
    from: cut(from),
    measured: cut(measured),
    expected: cut(expected),
    byClock: cut(byClock),
    byOthers: cut(byOthers),
    covered: cut(covered),
  }
}

/** The course of all events with the hours of the day before it, as far as they are known. */
export function withDayBefore(course: Course, usual: UsualCounts): Course {
  const oldest = course.from.at(-1) ?? course.to
  const hours = usual.hoursOf({ from: oldest - DAY, to: oldest })
  const longer = (values: readonly number[], ofHour: (hour: (typeof hours)[number]) => number): number[] => {
    let sum = values.at(-1) ?? 0
    return [...values, ...hours.map((hour) => (sum += ofHour(hour)))]
  }
  const expected = longer(course.expected, ({ from }) => usual.of(null).expectedIn(from))
  return {
    ...course,
    from: [...course.from, ...hours.map(({ from }) => from)],
    measured: longer(course.measured, ({ count }) => count),
    expected,
    byClock: expected,
    byOthers: expected,
    covered: longer(course.covered, () => HOUR),
  }
}

/** With less of the others than this share of all, they say nothing of the site's level. */
const LEAST_OTHERS = 0.1

/** What came of the other events next to what is usual. Where there hardly are others, of all: then the site's own verdict speaks for its one event. */
function levelOfOthers(count: number, all: number, usualOwn: number, usualAll: number): number {
  const usualOthers = usualAll - usualOwn
  if (usualOthers > LEAST_OTHERS * usualAll) return Math.max(0, all - count) / usualOthers
  return usualAll > 0 ? all / usualAll : 1
}

/** A neighbour without events has so many, for a share to be taken. */
const LEAST_NEIGHBOUR = 0.1

/** NaN where nothing is known. */
export function expectedBetween(usual: UsualCount, { from, to }: TimeRange): number {
  let expected = 0
  for (let hour = floorTo(from, HOUR); hour < to; hour += HOUR) {
    const [start, end] = [Math.max(from, hour), Math.min(to, hour + HOUR)]
    // Traffic does not jump at full hours: towards its ends an hour is half way to its neighbour. Only downwards, or an
    // hour of silence would be expected to have events because the hour before has. Levels sink by a share, not by a number.
    const place = ((start + end) / 2 - hour) / HOUR - 0.5
    const own = usual.expectedIn(hour)
    const near = place === 0 ? own : usual.expectedIn(place < 0 ? hour - HOUR : hour + HOUR)
    const isSinking = near < own
    const here = isSinking
      ? own * (Math.max(LEAST_NEIGHBOUR, near) / Math.max(LEAST_NEIGHBOUR, own)) ** Math.abs(place)
      : own
    expected += ((end - start) / HOUR) * here
  }
  return expected
}

/** Buckets that are left out make a window a bit shorter than it should be. */
export const NEARLY = 0.99

/** The usual counts are known by the hour: how traffic rises or falls within one is off by about this part of its change from one hour to the next. */
const UNKNOWN_SHAPE = 0.5
/** A site that begins or ends its day with an hour changes by more than anyone can judge. */
const MOST_CHANGE = 2

/**
 * The relative variance of what is expected within an hour, as its course is not known: none where the hours around are alike. A window of hours ends within
 * one, which may be most of what is expected in it where a day begins.
 */
export function shapeNoise({ to, from, byClock, covered }: Course, index: number, length: number): number {
  const isWithin = length < HOUR
  const part = isWithin ? index : from.findLastIndex((start) => start >= floorTo(to, HOUR))
  const [own, time] = [byClock[part] ?? 0, covered[part] ?? 0]
  const earlier = covered.findIndex((all) => all >= time + HOUR * NEARLY)
  const [before, beforeTime] = [(byClock[earlier] ?? own) - own, (covered[earlier] ?? time) - time]
  if (!(own > 0 && before > 0)) return 0
  const change = Math.min(MOST_CHANGE, Math.abs(Math.log(own / time / (before / beforeTime))))
  const share = own / (byClock[index] ?? own)
  return (share * UNKNOWN_SHAPE * change * Math.max(0, 1 - (isWithin ? length : time) / HOUR)) ** 2
}
