import { DAY, floorTo, HOUR } from '../lib/index.ts'
import { type TimeRange, touchesAny } from './time.ts'
import type { UsualCount, UsualCounts } from './usual-counts.ts'

/** A site's events. `total` and each list in `events` have one count per bucket. */
export interface BucketCounts {
  /** Oldest first, without overlaps. */
  readonly buckets: readonly TimeRange[]
  readonly total: readonly number[]
  readonly events: ReadonlyMap<string, readonly number[]>
}

/** The last 24 hours of a site. The newer buckets have five minutes, older ones may be longer. */
export interface RecentCounts extends BucketCounts {
  /** The newest of these buckets by the minute, to show for how long no event has arrived. */
  readonly minutes: BucketCounts
}

/** The counts of a name, or of all events (null). */
export const countsOf = ({ buckets, total, events }: BucketCounts, name: string | null): readonly number[] =>
  name === null ? total : (events.get(name) ?? buckets.map(() => 0))

/** The counts of the newest buckets of equal length, oldest first. */
export function slotCounts(recent: BucketCounts, name: string | null): number[] {
  const lengths = recent.buckets.map(({ from, to }) => to - from)
  const start = lengths.findLastIndex((length) => length !== lengths.at(-1)) + 1
  return countsOf(recent, name).slice(start)
}

/** Leaves out the buckets in which the service itself was down for a while: they miss an unknown number of events. */
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

/** Replaces the newest buckets by minutes. */
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

/** Time since the last event, ms; infinite when there was none. */
export function quietFor(recent: BucketCounts, name: string | null): number {
  const last = countsOf(recent, name).findLastIndex((count) => count > 0)
  const end = recent.buckets.at(-1)?.to ?? 0
  return last === -1 ? Number.POSITIVE_INFINITY : end - (recent.buckets[last]?.to ?? end)
}

/** The longest stretch between two events of the newest minutes, ms. */
export function longestGap(minutes: BucketCounts, name: string | null): number {
  const counts = countsOf(minutes, name)
  let longest = 0
  // The open stretch up to now does not lie between events.
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

/** A subject's counts and their expectations, summed from now back. Element `n` covers the newest n + 1 buckets. */
export interface Course {
  /** End of the newest bucket. */
  readonly to: number
  /** Start of the oldest bucket. */
  readonly from: readonly number[]
  readonly measured: readonly number[]
  /** For an event: by what came of the others, but no more than by the clock. */
  readonly expected: readonly number[]
  /** By the clock alone. */
  readonly byClock: readonly number[]
  /** By what came of the others, without that limit. */
  readonly byOthers: readonly number[]
  /** Time in the buckets, ms; shorter than from one end to the other when buckets are left out, see `withoutOutages`. */
  readonly covered: readonly number[]
  /** Up to this instant, a special day makes the site's level unknown; −∞ when there was none. */
  readonly specialUntil: number
}

/** The usual number of all events in each bucket, oldest first. The courses of all names need it. */
export const siteExpectations = ({ buckets }: BucketCounts, usual: UsualCounts): Float64Array =>
  Float64Array.from(buckets, (bucket) => expectedBetween(usual.of(null), bucket))

/**
 * Sums up a subject's counts and expectations.
 *
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
    // Older buckets have nothing to be compared with.
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

/** The part of a course that begins at this time or later. */
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

/** Extends the course of all events by the hours of the day before it, as far as they are known. */
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

/** If the other events are less than this share of all, they do not show the site's level. */
const LEAST_OTHERS = 0.1

/** The level of the other events relative to usual. With hardly any others, that of all events: then the site's verdict covers its one event. */
function levelOfOthers(count: number, all: number, usualOwn: number, usualAll: number): number {
  const usualOthers = usualAll - usualOwn
  if (usualOthers > LEAST_OTHERS * usualAll) return Math.max(0, all - count) / usualOthers
  return usualAll > 0 ? all / usualAll : 1
}

/** Minimum for a neighbouring hour without events, so that a ratio can be taken. */
const LEAST_NEIGHBOUR = 0.1

/** The expected count between two instants; NaN when nothing is known. */
export function expectedBetween(usual: UsualCount, { from, to }: TimeRange): number {
  let expected = 0
  for (let hour = floorTo(from, HOUR); hour < to; hour += HOUR) {
    const [start, end] = [Math.max(from, hour), Math.min(to, hour + HOUR)]
    // Traffic does not jump at full hours, so towards its ends an hour is interpolated halfway to its neighbour, by ratio.
    // Only downwards: otherwise an hour of silence would be expected to have events because the hour before has.
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

/** Buckets that are left out make windows slightly shorter. */
export const NEARLY = 0.99

/** Usual counts are known by the hour, so the course within an hour is uncertain by about this part of the change from hour to hour. */
const UNKNOWN_SHAPE = 0.5
/** Limit for that change, when a site's day begins or ends with an hour. */
const MOST_CHANGE = 2

/**
 * The relative variance of an expectation because the course within an hour is unknown; 0 when the hours around are alike.
 * Longer windows, too, end within an hour, which may hold most of their expectation when a day begins.
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
