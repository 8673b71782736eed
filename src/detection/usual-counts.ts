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

/** Events of one UTC hour, all of them and by name. */
export interface HourCounts {
  readonly total: number
  readonly events: ReadonlyMap<string, number>
}

export interface HourHistory {
  /** By the start of the UTC hour. An hour that is missing had no events. */
  readonly hours: ReadonlyMap<number, HourCounts>
  /** Before this nothing is known, because the site did not exist or its rows are gone. */
  readonly knownFrom: number
  /** When the service itself was down. Hours that touch it are not known. */
  readonly outages: readonly TimeRange[]
  /** Holidays and what people marked, past and to come: not usual, whatever came. */
  readonly special: readonly TimeRange[]
  /** What people said of earlier alerts; nothing where it is not given. */
  readonly feedback?: readonly Feedback[]
}

/** What is usual for a site, as known at the end of an hour. Worth keeping for some hours: each name takes a millisecond to learn. */
export interface UsualCounts {
  /** Every event name that came in the weeks before. */
  readonly names: readonly string[]
  /** Of an event, or (null) of all of them. */
  of(name: string | null): UsualCount
  /** Whole days that are known. */
  readonly days: number
  /** Events in a batch, where the site sends in batches, as seen from the hours of the last week; else 1. */
  readonly batch: number
  /** Start of the next hour that something is known of, the one under way included. */
  nextKnownHour(now: number): number
  /** End of the newest special time that began before an instant, −∞ where there was none. */
  specialUntil(time: number): number
  /** Hour of the local day, 0–23. */
  localHour(time: number): number
  /** From Monday, 0–6. */
  localWeekday(time: number): number
  /** What came in the whole hours of a stretch that are known and were not special, the newest first. */
  hoursOf(range: TimeRange): readonly { readonly from: number; readonly count: number }[]
}

export interface UsualCount {
  /** Next to what comes of the other events; of all events, what comes at all. */
  readonly noise: Noise
  /** By the clock alone. */
  readonly alone: Noise
  /** By how much feedback has widened both, 1–4. */
  readonly widening: number
  /** The first and the last hour in which any came, null where none did. */
  readonly seen: TimeRange | null
  /** Events an hour from the first to the last of them; 0 where none came. */
  readonly hourly: number
  /** Events to be expected in a UTC hour at the level of the last week; less where that kind of day was never seen. NaN where nothing is known. */
  expectedIn(utcHour: number): number
}

/** An office has a fifth of a Friday's visits on its first Saturday. */
const CAUTION_WITH_UNKNOWN_DAY = 5

/** @param weeks how many are compared with */
export function usualCounts(history: HourHistory, clock: LocalTime, now: number, weeks: number): UsualCounts {
  const learning = learnt(history, clock, now, weeks)
  let step = learning.next()
  while (step.done !== true) step = learning.next()
  return step.value
}

/**
 * The same for those who share their thread: a site with 40 events would keep it for 40 ms.
 *
 * @param pause after each name
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

/** Name by name. */
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
      // The hours of today, that are not yet over, are known tomorrow.
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

/** @param total of all events, where `counts` are those of one name: it is compared with the others, not with the clock alone */
function usualCount(counts: Float64Array, total: Float64Array | null, learnt: Learnt): UsualCount {
  const { hours, widening } = learnt
  if (total !== null && sum(counts) < (SELDOM * sum(hours.isKnown)) / HOURS_A_DAY) return seldom(counts, hours)
  const isUsual = usualHours(counts, hours)
  markUsual(isUsual, learnt)
  // What is judged must not be its own measure: no hour of the last day but the one that has just come round again.
  isUsual.fill(0, 1 - HOURS_A_DAY)
  // The spread decides how much an hour of its own says next to its like, and needs a profile itself.
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

/** By the place in the week, so that nothing of the counts is kept for the hour that this is. */
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

/** With fewer events a day than these, not even a day without any says something. A sender may make up such names without end. */
const SELDOM = 5

function seldom(counts: Float64Array, hours: WeekHours): UsualCount {
  const mean = sum(counts) / Math.max(1, sum(hours.isKnown))
  return { noise: UNKNOWN_NOISE, alone: UNKNOWN_NOISE, widening: 1, ...seenIn(counts, hours), expectedIn: () => mean }
}

/** An event follows the others, up to here. */
const OTHERS = { least: 0.2, most: 3 } as const

/** What is expected of an event in an hour of the past next to what came of the others. */
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
