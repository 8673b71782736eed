import { DAY, floorTo, HOUR } from '../lib/index.ts'
import type { Bursts } from './bursts-now.ts'
import { logLowerTail } from './negative-binomial.ts'
import { sum } from './statistics.ts'
import { HOURS_A_DAY, HOURS_A_WEEK, SATURDAY } from './time.ts'
import type { UsualCount, UsualCounts } from './usual-counts.ts'
import { type Course, courseSince, withDayBefore } from './volume-counts.ts'
import { isLowSince, type Onset, onsetOf, recoveredSince } from './volume-onset.ts'

/** Of all events of a site. */
export interface SiteCounts {
  readonly usual: Pick<UsualCount, 'noise'>
  readonly ofSite: UsualCounts
  readonly bursts: Bursts
}

/** A holiday shows when people get up; by the last of these local hours it is at its level. */
const BEGINS = { from: 3, until: 9 } as const

/**
 * Whether a fall may be a holiday that no calendar knows: a site that goes to its level over hours, all events alike, and to no lower one than a holiday
 * brings. It ends with the day, and the next one shows that. What may have been low for as long as can be seen is none: it would be one again each night.
 *
 * @param judged the part of the course since the last silence that had an alert of its own
 */
export function mayBeHoliday(course: Course, judged: Course, site: SiteCounts): boolean {
  // It may have silences in it, as hardly any come, and it may follow a fault that is over.
  const since = recoveredSince(course, site.bursts.burst)
  // Mostly the judged part is the whole course.
  const parts = new Set([course, judged, ...(since === null ? [] : [courseSince(course, since)])])
  const least = leastOnHoliday(course.to, site.ofSite)
  return [...parts].some((part) => mayBeIn(part, site, least))
}

/** @param least share of the usual events on a holiday */
function mayBeIn(course: Course, { usual, ofSite, bursts }: SiteCounts, least: number): boolean {
  const onsetIn = (part: Course) => onsetOf(part, bursts.burst, usual.noise.steady(HOUR))
  let onset = onsetIn(course)
  if (onset !== null && mayBeOlder(onset, course)) {
    const longer = withDayBefore(course, ofSite)
    onset = onsetIn(longer)
    if (onset !== null && mayBeOlder(onset, longer)) return false
  }
  if (onset === null || onset.isSudden) return false
  const midnight = startOfDay(course.to, ofSite)
  const mayBeYesterday = !isLowSince(course, midnight, bursts.burst)
  return onset.near.some((begun) => {
    const hour = ofSite.localHour(begun)
    if (hour < BEGINS.from || hour >= BEGINS.until || (begun < midnight && !mayBeYesterday)) return false
    const settled = Math.max(begun, startOfDay(begun, ofSite) + BEGINS.until * HOUR)
    return !isTooLow(courseSince(course, settled), least, usual.noise, bursts.burst)
  })
}

/** Whether a fall may have begun before all that is seen. */
const mayBeOlder = ({ isOld, near }: Onset, { from, to }: Course): boolean => isOld && near.includes(from.at(-1) ?? to)

const startOfDay = (time: number, { localHour }: UsualCounts): number => floorTo(time, HOUR) - localHour(time) * HOUR

/** On a holiday at least this share of a day's events comes where people come on weekends, too, … */
const LEAST = 1 / 3
/** … and where they hardly do, this share of a weekend's. */
const LEAST_OF_WEEKEND = 0.5
/** A holiday at that share would have so few once in four times. */
const LIKELY_LESS = Math.log(0.25)

/** Whether less came than on any holiday. @param settled since it is at its level */
function isTooLow(settled: Course, least: number, noise: UsualCount['noise'], burst: number): boolean {
  const [measured, expected, length] = [settled.measured.at(-1), settled.expected.at(-1), settled.covered.at(-1)]
  if (measured === undefined || expected === undefined || length === undefined) return false
  const model = { mean: least * expected, burst, noise: noise.level(length) }
  return measured < model.mean && logLowerTail(measured, model) < LIKELY_LESS
}

/** The share of its usual events that a day has as a holiday, or more. @param now of the week that is looked at */
function leastOnHoliday(now: number, ofSite: UsualCounts): number {
  const start = startOfDay(now, ofSite)
  const days = Array.from({ length: HOURS_A_WEEK / HOURS_A_DAY }, (_, index) => start + index * DAY)
  const isWeekend = (day: number) => ofSite.localWeekday(day) >= SATURDAY
  const usualOn = (wanted: readonly number[]) => sum(wanted.map((day) => usualIn(day, ofSite))) / wanted.length
  const weekend = usualOn(days.filter(isWeekend)) / usualOn(days.filter((day) => !isWeekend(day)))
  // Where it is not known what weekends have, anything may be a holiday's.
  return Number.isNaN(weekend) ? 0 : Math.min(LEAST, LEAST_OF_WEEKEND * weekend)
}

const usualIn = (day: number, ofSite: UsualCounts): number =>
  sum(Array.from({ length: HOURS_A_DAY }, (_, hour) => ofSite.of(null).expectedIn(day + hour * HOUR)))
