import { DAY, floorTo, HOUR } from '../lib/index.ts'
import { batchSizeOfHours } from './burst.ts'
import { burstOf, countNoise, type Noise, UNKNOWN_NOISE } from './count-noise.ts'
import { type Feedback, type Learnt, learntFrom, markUsual, widened } from './feedback.ts'
import { levelOfLastWeek, type Profile, profileOf } from './hour-profile.ts'
import { usualHours } from './special-hours.ts'
import { clamp, sum } from './statistics.ts'
import {
  HOURS_A_DAY,
  HOURS_A_WEEK,
  type LocalTime,
  type TimeRange,
  touchesAny,
  type WeekHours,
  weekHours,
} from './time.ts'

/** The events of one UTC hour: all together, and by name. */
export interface HourCounts {
  readonly total: number
  readonly events: ReadonlyMap<string, number>
}

export interface HourHistory {
  /** By the start of the UTC hour. A missing hour had no events. */
  readonly hours: ReadonlyMap<number, HourCounts>
  /** Nothing is known before this time, because the site did not exist or its rows were deleted. */
  readonly knownFrom: number
  /** When the service itself was down. Hours that overlap are unknown. */
  readonly outages: readonly TimeRange[]
  /** Past and future holidays and marked days. Their hours do not count as usual, whatever came. */
  readonly special: readonly TimeRange[]
  /** People's answers to earlier alerts. */
  readonly feedback?: readonly Feedback[]
}

/** What is usual for a site, as known at the end of an hour. Keep it for some hours: learning takes 1 ms per name. */
export interface UsualCounts {
  /** All event names of the weeks before. */
  readonly names: readonly string[]
  /** For one event, or for all together (null). */
  of(name: string | null): UsualCount
  /** Number of whole days that are known. */
  readonly days: number
  /** Events per batch if the site sends batches, estimated from the hours of the last week; otherwise 1. */
  readonly batch: number
  /** Start of the next hour for which something is known, which may be the current one. */
  nextKnownHour(now: number): number
  /** End of the newest special time that began before an instant; −∞ when there was none. */
  specialUntil(time: number): number
  /** Hour of the local day, 0–23. */
  localHour(time: number): number
  /** From Monday, 0–6. */
  localWeekday(time: number): number
  /** The counts of all known, non-special whole hours in a stretch, newest first. */
  hoursOf(range: TimeRange): readonly { readonly from: number; readonly count: number }[]
}

export interface UsualCount {
  /** The spread around what the other events predict; for all events together, around what the clock predicts. */
  readonly noise: Noise
  /** The spread around what the clock alone predicts. */
  readonly alone: Noise
  /** Factor by which feedback has widened both, 1–4. */
  readonly widening: number
  /** The first and the last hour with events; null when there was none. */
  readonly seen: TimeRange | null
  /** Events per hour between those two; 0 when there were none. */
  readonly hourly: number
  /** Expected events in a UTC hour at the level of the last week; fewer on a kind of day that was never seen. NaN when nothing is known. */
  expectedIn(utcHour: number): number
}

/** An office has a fifth of a Friday's visits on its first Saturday. */
const CAUTION_WITH_UNKNOWN_DAY = 5

/** @param weeks how many weeks to compare with */
export function usualCounts(history: HourHistory, clock: LocalTime, now: number, weeks: number): UsualCounts {
  const learning = learnt(history, clock, now, weeks)
  let step = learning.next()
  while (step.done !== true) step = learning.next()
  return step.value
}

/**
 * Like `usualCounts`, for callers that share their thread: a site with 40 events would block it for 40 ms.
 *
 * @param pause called after each name
 */
export async function usualCountsInTurns(
  history: HourHistory,
  clock: LocalTime,
  now: number,
  weeks: number,
  pause: () => Promise<void>,
): Promise<UsualCounts> {
  const learning = learnt(history, clock, now, weeks)
  let step = learning.next()
  while (step.done !== true) {
    await pause()
    step = learning.next()
  }
  return step.value
}

/** Learns one name per step. */
function* learnt(history: HourHistory, clock: LocalTime, now: number, weeks: number): Generator<void, UsualCounts> {
  const { knownFrom, outages, special, feedback = [] } = history
  const before = { from: Number.NEGATIVE_INFINITY, to: knownFrom }
  const hours = weekHours(clock, now, weeks, [before, ...outages, ...special])
  const counts = countsByName(history, hours)
  const total = counts.get(null) ?? new Float64Array(hours.length)
  const usual = new Map<string | null, UsualCount>()
  for (const [name, own] of counts) {
    usual.set(name, usualCount(own, name === null ? null : total, learntFrom(feedback, name, hours, now)))
    yield
  }
  const never = seldom(new Float64Array(hours.length), hours)
  const { placeOf } = hours
  return {
    names: [...usual.keys()].filter((name) => name !== null),
    of: (name) => usual.get(name) ?? never,
    days: Math.floor(sum(hours.isKnown) / HOURS_A_DAY),
    batch: batchSizeOfHours([...total.slice(-HOURS_A_WEEK)]),
    nextKnownHour: (time) => {
      const start = floorTo(time, HOUR)
      const next = Array.from({ length: HOURS_A_DAY + 1 }, (_, index) => start + index * HOUR)
      // Today's remaining hours will be known tomorrow.
      const isKnown = (hour: number) =>
        !Number.isNaN(usual.get(null)?.expectedIn(hour) ?? Number.NaN) ||
        (hour - DAY >= knownFrom && hour > start && !touchesAny({ from: hour - DAY, to: hour - DAY + HOUR }, outages))
      return next.find(isKnown) ?? start + DAY
    },
    specialUntil: (time) =>
      special.reduce((until, { from, to }) => (from < time && to > until ? to : until), Number.NEGATIVE_INFINITY),
    localHour: (time) => placeOf(floorTo(time, HOUR)) % HOURS_A_DAY,
    localWeekday: (time) => Math.floor(placeOf(floorTo(time, HOUR)) / HOURS_A_DAY),
    hoursOf: (range) => hoursOf(range, total, hours),
  }
}

function hoursOf({ from, to }: TimeRange, total: Float64Array, { start, isKnown }: WeekHours) {
  const found: { from: number; count: number }[] = []
  for (let hour = floorTo(to, HOUR) - HOUR; hour >= from; hour -= HOUR) {
    const index = (hour - start) / HOUR
    if (isKnown[index] === 1) found.push({ from: hour, count: total[index] ?? 0 })
  }
  return found
}

function countsByName({ hours }: HourHistory, { start, length }: WeekHours): Map<string | null, Float64Array> {
  const total = new Float64Array(length)
  const counts = new Map<string | null, Float64Array>([[null, total]])
  for (let index = 0; index < length; index++) {
    const inHour = hours.get(start + index * HOUR)
    if (inHour === undefined) continue
    total[index] = inHour.total
    for (const [name, count] of inHour.events) {
      const own = counts.get(name) ?? new Float64Array(length)
      own[index] = count
      counts.set(name, own)
    }
  }
  return counts
}

/** @param total counts of all events, when `counts` is one name: it is compared with the other events instead of the clock alone */
function usualCount(counts: Float64Array, total: Float64Array | null, learnt: Learnt): UsualCount {
  const { hours, widening } = learnt
  if (total !== null && sum(counts) < (SELDOM * sum(hours.isKnown)) / HOURS_A_DAY) return seldom(counts, hours)
  const isUsual = usualHours(counts, hours)
  markUsual(isUsual, learnt)
  // What is judged must not be its own measure. Of the last day, only the hour that is a full day old counts.
  isUsual.fill(0, 1 - HOURS_A_DAY)
  // The spread decides how much an hour's own counts weigh, but estimating it needs a profile: hence a rough one first.
  const rough = profileOf(counts, isUsual, hours, 1)
  const burst = burstOf(counts, rough.without, isUsual)
  const profile = profileOf(counts, isUsual, hours, burst)
  const alone = countNoise(counts, profile.without, isUsual)
  const level = levelOfLastWeek(counts, hours, profile, burst, alone.level(DAY))
  const noise =
    total === null
      ? alone
      : {
          ...countNoise(counts, besideOthers(counts, total, isUsual, hours, profile, burst), isUsual),
          group: alone.group,
        }
  return {
    noise: widened(noise, widening),
    alone: widened(alone, widening),
    widening,
    ...seenIn(counts, hours),
    expectedIn: expectations(profile, level, hours),
  }
}

/** Precomputed by the hour of the week, so that the result does not hold the counts. */
function expectations(profile: Profile, level: number, { placeOf }: WeekHours): UsualCount['expectedIn'] {
  const byPlace = Float64Array.from(
    { length: HOURS_A_WEEK },
    (_, place) => (level * profile.at(place)) / (profile.isSeen(place) ? 1 : CAUTION_WITH_UNKNOWN_DAY),
  )
  return lookUp(byPlace, placeOf)
}

const lookUp =
  (byPlace: Float64Array, placeOf: WeekHours['placeOf']): UsualCount['expectedIn'] =>
  (hour) =>
    byPlace[placeOf(hour)] ?? Number.NaN

function seenIn(counts: Float64Array, { start }: WeekHours): Pick<UsualCount, 'seen' | 'hourly'> {
  const [first, last] = [counts.findIndex((count) => count > 0), counts.findLastIndex((count) => count > 0)]
  if (first === -1) return { seen: null, hourly: 0 }
  const seen = { from: start + first * HOUR, to: start + last * HOUR }
  return { seen, hourly: sum(counts) / (last + 1 - first) }
}

/** With fewer events a day, even a whole day without any says nothing. A sender may invent any number of such names. */
const SELDOM = 5

function seldom(counts: Float64Array, hours: WeekHours): UsualCount {
  const mean = sum(counts) / Math.max(1, sum(hours.isKnown))
  return { noise: UNKNOWN_NOISE, alone: UNKNOWN_NOISE, widening: 1, ...seenIn(counts, hours), expectedIn: () => mean }
}

/** An event is expected to follow the others within these factors. */
const OTHERS = { least: 0.2, most: 3 } as const

/** Returns the expected count of an event in a past hour, given the counts of the other events. */
function besideOthers(
  counts: Float64Array,
  total: Float64Array,
  isUsual: Uint8Array,
  hours: WeekHours,
  profile: Profile,
  burst: number,
): (index: number) => number {
  const others = total.map((count, index) => count - (counts[index] ?? 0))
  const ofOthers = profileOf(others, isUsual, hours, burst)
  return (index) => {
    const usual = ofOthers.without(index)
    const own = profile.without(index)
    return usual > 0 ? own * clamp((others[index] ?? 0) / usual, OTHERS.least, OTHERS.most) : own
  }
}
