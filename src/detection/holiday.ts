import { DAY, floorTo, HOUR } from '../lib/index.ts'
import type { Bursts } from './bursts-now.ts'
import { logLowerTail, logUpperTail } from './negative-binomial.ts'
import { sum } from './statistics.ts'
import { HOURS_A_DAY, HOURS_A_WEEK, SATURDAY } from './time.ts'
import type { UsualCount, UsualCounts } from './usual-counts.ts'
import { type Course, courseSince, withDayBefore } from './volume-counts.ts'
import { isLowSince, type Onset, onsetOf, recoveredSince } from './volume-onset.ts'

/** All events of a site. */
export interface SiteCounts {
  readonly usual: Pick<UsualCount, 'noise'>
  readonly ofSite: UsualCounts
  readonly bursts: Bursts
  /** When all events were last found to have broken off, epoch ms; null or absent when they never were. */
  readonly brokeOffAt?: number | null
}

/** A holiday shows when people get up; by the last of these local hours, the site is at its level. */
const BEGINS = { from: 3, until: 9 } as const

/**
 * Whether a fall may be a holiday that no calendar lists: over hours, all events sink to a level that is no lower than a holiday's. The holiday ends
 * with the day, and the next day proves it. A fall that may have begun before the visible time is none, because it would be one again each night.
 *
 * @param judged the part of the course since the last silence, which had its own alert
 */
export function mayBeHoliday(course: Course, judged: Course, site: SiteCounts): boolean {
  // A holiday may contain silences, as hardly any events come, and may follow a fault that is over.
  const since = recoveredSince(course, site.bursts.burst)
  // In most cases, the judged part is the whole course.
  const parts = new Set([course, judged, ...(since === null ? [] : [courseSince(course, since)])])
  const least = leastOnHoliday(course.to, site.ofSite)
  return [...parts].some((part) => mayBeIn(part, site, least))
}

/** @param least share of the usual events on a holiday */
function mayBeIn(course: Course, { usual, ofSite, bursts, brokeOffAt }: SiteCounts, least: number): boolean {
  const onsetIn = (part: Course) => onsetOf(part, bursts.burst, usual.noise.steady(HOUR))
  let within = course
  let onset = onsetIn(within)
  if (onset !== null && mayBeOlder(onset, course)) {
    within = withDayBefore(course, ofSite)
    onset = onsetIn(within)
    if (onset !== null && mayBeOlder(onset, within)) return false
  }
  if (onset === null || onset.isSudden) return false
  // Hours tell less of how it came than the five minutes of the newest ones did: what was an abrupt fall once is one until it is over.
  if (brokeOffAt != null && onset.since <= brokeOffAt) return false
  const midnight = startOfDay(course.to, ofSite)
  const mayBeYesterday = !isLowSince(course, midnight, bursts.burst)
  return onset.near.some((begun) => {
    const hour = ofSite.localHour(begun)
    if (hour < BEGINS.from || hour >= BEGINS.until || (begun < midnight && !mayBeYesterday)) return false
    const settled = Math.max(begun, startOfDay(begun, ofSite) + BEGINS.until * HOUR)
    if (fellLater(within, settled, onset.since, usual.noise, bursts.burst)) return false
    return !isTooLow(courseSince(course, settled), least, usual.noise, bursts.burst)
  })
}

/** Whether the fall may have begun before the visible time. */
const mayBeOlder = ({ isOld, near }: Onset, { from, to }: Course): boolean => isOld && near.includes(from.at(-1) ?? to)

const startOfDay = (time: number, { localHour }: UsualCounts): number => floorTo(time, HOUR) - localHour(time) * HOUR

/** On a holiday, at least this share of a day's events comes if people also come on weekends, … */
const LEAST = 1 / 3
/** … and otherwise this share of a weekend's. */
const LEAST_OF_WEEKEND = 0.5
/** A holiday with that share would have so few once in four times. */
const LIKELY_LESS = Math.log(0.25)

/**
 * Whether less came than on any holiday.
 *
 * @param settled the time since it is at its level
 */
function isTooLow(settled: Course, least: number, noise: UsualCount['noise'], burst: number): boolean {
  const [measured, expected, length] = [settled.measured.at(-1), settled.expected.at(-1), settled.covered.at(-1)]
  if (measured === undefined || expected === undefined || length === undefined) return false
  const model = { mean: least * expected, burst, noise: noise.level(length) }
  return measured < model.mean && logLowerTail(measured, model) < LIKELY_LESS
}

/** At the level of a fall, so many would come before it less than once in thirty times. */
const LIKELY_MORE = Math.log(0.03)

/**
 * Whether the site was still above the level of a fall when it would have reached that level on a holiday.
 *
 * @param settled when that would have been
 * @param since when most began to be missing
 */
function fellLater(course: Course, settled: number, since: number, noise: UsualCount['noise'], burst: number): boolean {
  const [before, after] = [courseSince(course, settled), courseSince(course, since)]
  const [came, missing] = [after.measured.at(-1) ?? 0, after.expected.at(-1) ?? 0]
  const [measured, expected] = [(before.measured.at(-1) ?? 0) - came, (before.expected.at(-1) ?? 0) - missing]
  if (since <= settled || expected <= 0 || missing <= 0) return false
  const level = came / missing
  const doubt = burst / Math.max(burst, came)
  const model = { mean: level * expected, burst, noise: noise.level(since - settled) + doubt }
  return measured > model.mean && logUpperTail(measured, model) < LIKELY_MORE
}

/**
 * The least share of a day's usual events that comes on a holiday.
 *
 * @param now an instant in the week to look at
 */
function leastOnHoliday(now: number, ofSite: UsualCounts): number {
  const start = startOfDay(now, ofSite)
  const days = Array.from({ length: HOURS_A_WEEK / HOURS_A_DAY }, (_, index) => start + index * DAY)
  const isWeekend = (day: number) => ofSite.localWeekday(day) >= SATURDAY
  const usualOn = (wanted: readonly number[]) => sum(wanted.map((day) => usualIn(day, ofSite))) / wanted.length
  const weekend = usualOn(days.filter(isWeekend)) / usualOn(days.filter((day) => !isWeekend(day)))
  // If the level of weekends is unknown, any level may be a holiday's.
  return Number.isNaN(weekend) ? 0 : Math.min(LEAST, LEAST_OF_WEEKEND * weekend)
}

const usualIn = (day: number, ofSite: UsualCounts): number =>
  sum(Array.from({ length: HOURS_A_DAY }, (_, hour) => ofSite.of(null).expectedIn(day + hour * HOUR)))
