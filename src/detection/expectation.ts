import { ceilTo, floorTo, HOUR } from '../lib/index.ts'
import { burstsNow } from './bursts-now.ts'
import { logLimit } from './false-alarms.ts'
import { passing } from './passing.ts'
import { levelBefore, type SilenceLimits, SPECIAL_NOISE, visitsToTell } from './silence.ts'
import type { TimeRange } from './time.ts'
import type { UsualCount, UsualCounts } from './usual-counts.ts'
import { type Course, courseOf, type RecentCounts } from './volume-counts.ts'
import { type FallLimits, isYoung } from './volume-fall.ts'

/** What is usual in an hour, and which counts of it pass. All null where nothing is known. */
export interface ExpectedHour {
  /** Start of the UTC hour. */
  readonly from: number
  readonly expected: number | null
  /** Fewer would be a fall or a silence; 0 where any number passes. */
  readonly low: number | null
  /** More would be a spike; null where any number passes. */
  readonly high: number | null
}

/** What a probe expects of a site, or of one of its events, and how far from it counts come by chance. */
export interface Expectation {
  readonly hours: readonly ExpectedHour[]
  /** Variance of the hours' counts over their mean, as far as it is not that of their level. */
  readonly burst: number
  /** Events that a visit or a batch brings. */
  readonly visitSize: number
  /** Standard deviation of an hour's level, as a share of it. */
  readonly levelNoise: number
}

/** What passes. */
export interface HourLimits extends SilenceLimits {
  /** Null: only silence is judged. */
  readonly fall: Pick<FallLimits, 'budget' | 'ratio'> | null
}

/** An hour's counts while nothing is wrong. */
export interface HourModel {
  /** At the level of the hours before, and by the clock. */
  readonly mean: number
  readonly byClock: number
  readonly burst: number
  readonly visitSize: number
  /** Relative variance of the level. */
  readonly noise: number
}

/**
 * Hour by hour what is expected, by the same model that judges windows of an hour. The level of the hours before is known up to the
 * next full hour; what comes later is expected by the clock alone, and an event as if the others came as usual.
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
    // Nobody knows how many come to a site on a holiday.
    const judged = isSpecial && name === null ? { ...limits, fall: null } : limits
    hours.push({ from, ...expectedHour(model, judged) })
  }
  return { hours, burst, visitSize, levelNoise: Math.sqrt(own.noise.level(HOUR)) }
}

const NOTHING_KNOWN = { expected: null, low: null, high: null } as const

/** What is expected of one hour. */
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

/** Among the others an event is unusual only where it is so by the clock as well. */
const eventNoise = ({ noise, alone }: UsualCount): number => Math.max(noise.level(HOUR), alone.level(HOUR))

/** The level of the hours before an hour that began, or begins next; as usual in those after it, with a noise that says so. */
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
