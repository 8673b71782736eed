import { ceilTo, floorTo, HOUR } from '../lib/index.ts'
import { burstsNow } from './bursts-now.ts'
import { logLimit } from './false-alarms.ts'
import { passing } from './passing.ts'
import { levelBefore, type SilenceLimits, SPECIAL_NOISE, visitsToTell } from './silence.ts'
import type { TimeRange } from './time.ts'
import type { UsualCount, UsualCounts } from './usual-counts.ts'
import { type Course, courseOf, type RecentCounts } from './volume-counts.ts'
import { type FallLimits, isYoung } from './volume-fall.ts'

/** What is usual in an hour and which counts pass. All null when nothing is known. */
export interface ExpectedHour {
  /** Start of the UTC hour. */
  readonly from: number
  readonly expected: number | null
  /** A lower count would be a fall or a silence; 0 when any passes. */
  readonly low: number | null
  /** A higher count would be a spike; null when any passes. */
  readonly high: number | null
}

/** What a probe expects of a site or of one event, and how far counts differ from it by chance. */
export interface Expectation {
  readonly hours: readonly ExpectedHour[]
  /** Variance of hourly counts over their mean, without the variance of the level. */
  readonly burst: number
  /** Events per visit or batch. */
  readonly visitSize: number
  /** Standard deviation of an hour's level, as a share of it. */
  readonly levelNoise: number
}

/** The limits of what passes. */
export interface HourLimits extends SilenceLimits {
  /** Null: only silence is judged. */
  readonly fall: Pick<FallLimits, 'budget' | 'ratio'> | null
}

/** The distribution of an hour's count while nothing is wrong. */
export interface HourModel {
  /** At the level of the hours before; `byClock` is by the clock alone. */
  readonly mean: number
  readonly byClock: number
  readonly burst: number
  readonly visitSize: number
  /** Relative variance of the level. */
  readonly noise: number
}

/**
 * Returns hour by hour what is expected, by the model that judges windows of an hour. The level of the hours before is used
 * up to the next full hour. Later hours are expected by the clock alone, and events as if the others came as usual.
 *
 * @param name of an event, null for all
 */
export function expectationOf(
  name: string | null,
  { recent, usual }: { recent: RecentCounts; usual: UsualCounts },
  limits: HourLimits,
  range: TimeRange,
): Expectation {
  const own = usual.of(name)
  const { burst, group: visitSize } = burstsNow(name, recent, usual, own.noise)
  const course = courseOf(name, recent, usual)
  const levelAt = name === null ? siteLevel(course, own) : () => ({ level: 1, noise: eventNoise(own) })
  const hours: ExpectedHour[] = []
  for (let from = floorTo(range.from, HOUR); from < range.to; from += HOUR) {
    const byClock = own.expectedIn(from)
    const isSpecial = usual.specialUntil(from + HOUR) > from
    const { level, noise } = isSpecial ? { level: 1, noise: SPECIAL_NOISE } : levelAt(from)
    const model = { mean: level * byClock, byClock, burst, visitSize, noise }
    // How many people visit a site on a holiday is unknown.
    const judged = isSpecial && name === null ? { ...limits, fall: null } : limits
    hours.push({ from, ...expectedHour(model, judged) })
  }
  return { hours, burst, visitSize, levelNoise: Math.sqrt(own.noise.level(HOUR)) }
}

const NOTHING_KNOWN = { expected: null, low: null, high: null } as const

/** Returns what is expected of one hour, and what passes. */
export function expectedHour(model: HourModel, limits: HourLimits): Omit<ExpectedHour, 'from'> {
  const { mean, byClock, burst, visitSize, noise } = model
  if (Number.isNaN(byClock) || Number.isNaN(mean)) return NOTHING_KNOWN
  const isSilenceTold = mean / visitSize >= visitsToTell(noise, HOUR, limits)
  const leastHeard = isSilenceTold ? 1 : 0
  const { fall } = limits
  if (fall === null || byClock <= 0) return { expected: byClock, low: leastHeard, high: null }
  const limit = logLimit(fall.budget, HOUR)
  const { low } = passing({ model: { mean, burst, noise }, limit }, fall)
  const { high } = passing({ model: { mean: byClock, burst, noise }, limit }, fall)
  return { expected: byClock, low: Math.max(leastHeard, low), high }
}

/** Relative to the other events, an event is unusual only if it is also unusual by the clock. */
const eventNoise = ({ noise, alone }: UsualCount): number => Math.max(noise.level(HOUR), alone.level(HOUR))

/** Returns the level of the hours before a past hour or the next one; later hours have the usual level, with the noise of the clock. */
function siteLevel(course: Course, { noise }: UsualCount): (hour: number) => { level: number; noise: number } {
  const next = ceilTo(course.to, HOUR)
  const oldest = course.from.at(-1) ?? course.to
  return (hour) => {
    if (hour > next || hour < oldest) return { level: 1, noise: noise.level(HOUR) }
    const index = course.from.findLastIndex((from) => from >= hour)
    const before = levelBefore(course, index, noise, HOUR)
    return isYoung(noise) ? { ...before, noise: Math.max(before.noise, noise.level(HOUR)) } : before
  }
}
