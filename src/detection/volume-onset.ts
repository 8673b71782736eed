import { DAY, HOUR } from '../lib/index.ts'
import { levelGiven } from './count-noise.ts'
import { deviation, logLowerTail } from './negative-binomial.ts'
import type { Course } from './volume-counts.ts'

/** Since when fewer events come than should, and how that began. */
export interface Onset {
  /** Start of the bucket in which it began, epoch ms. */
  readonly since: number
  /** Starts of all buckets in which it may equally well have begun, given how counts vary by chance; includes `since`. */
  readonly near: readonly number[]
  /** Whether every part of the last day is low, which no holiday is. */
  readonly isOld: boolean
  /** Whether the level broke off instead of sinking. */
  readonly isSudden: boolean
}

/** A bucket with less than this share of its expectation supports a fall: halfway from whole to half. */
const NEUTRAL_SHARE = 0.75
/** Roughly how many hours a site takes to sink to its level on a holiday, … */
const SINKS_FOR = 5 * HOUR
/** … and what is left on the quietest holiday, while it may still be sinking. */
const LOWEST = 0.1
/** Relative variance of the level before it is measured, and the least variance from one hour to the next. */
const LEVEL_NOISE = 0.05
const LEAST_STEADY_NOISE = 0.01
const SURELY_SUDDEN = Math.log(0.01)
/** Bursts needed to measure a level. */
const BURSTS_FOR_LEVEL = 20
const LONGEST_LEVEL = 4 * HOUR
const PARTS_OF_DAY = 4
/** By then, a holiday that began early in the morning is over. */
const OLD = 22 * HOUR
/** Two beginnings are equally likely if what came between them is within this many standard deviations, … */
const AS_LIKELY = 1.5
/**
 * … and if they are no farther apart than this: over a day, a level varies by as much as a fall. In a night with hardly any events, nothing
 * distinguishes them.
 */
const NEAR = 6 * HOUR
const HARDLY_ANY = 0.1

/** Counts from now back to a bucket. */
interface Stretch {
  readonly from: number
  readonly measured: number
  readonly expected: number
}

/**
 * Finds the onset of a fall: where the missing events add up to most (CUSUM, Page 1954).
 *
 * @param steady relative variance of the level's change from one hour to the next
 */
export function onsetOf(course: Course, burst: number, steady: number): Onset | null {
  const stretches = course.from.map((from, index) => ({
    from,
    measured: course.measured[index] ?? 0,
    expected: course.expected[index] ?? 0,
  }))
  const deficit = ({ measured, expected }: Stretch) => NEUTRAL_SHARE * expected - measured
  const start = stretches.reduce<Stretch | null>(
    (most, one) => (most === null || deficit(one) > deficit(most) ? one : most),
    null,
  )
  if (start === null) return null
  const isOld = start.from <= course.to - OLD && isLowAllDay(stretches, course.to, burst)
  const ofAll = stretches.at(-1)?.expected ?? 0
  const isNear = (one: Stretch): boolean => {
    const between = Math.abs(one.expected - start.expected)
    if (Math.abs(one.from - start.from) > NEAR && between > HARDLY_ANY * ofAll) return false
    const noise = Math.max(LEAST_STEADY_NOISE, steady)
    return deficit(start) - deficit(one) <= AS_LIKELY * deviation({ mean: between, burst, noise })
  }
  return {
    since: start.from,
    near: stretches.filter(isNear).map(({ from }) => from),
    isOld,
    isSudden: !isOld && brokeOff(stretches, start, course.to, burst, steady),
  }
}

/** Missing bursts after which the level is known to be low. */
const KNOWN_LOW = 5
/** Twice as many must return before it may be over, because one good hour in a night would bring as many, … */
const RETURNED = 2 * KNOWN_LOW
/** … and that must last this long, because a sinking level varies. */
const LASTS = HOUR

/**
 * Returns since when a level was back to usual, even if it fell again later; null when it was not low before. No more is counted as
 * missing than is needed to know that the level is low: the loss of a busy evening outweighs everything that comes in the night after it.
 */
export function recoveredSince({ from, to, measured, expected }: Course, burst: number): number | null {
  let missing = 0
  /** When it was last known to be low, and whether it has come back since. */
  let low = Number.POSITIVE_INFINITY
  let isBack = false
  let recovered: number | null = null
  const end = (time: number) => {
    if (isBack && time - low >= LASTS) recovered = low
    isBack = false
  }
  for (let index = from.length - 1; index >= 0; index--) {
    const usual = (expected[index] ?? 0) - (expected[index - 1] ?? 0)
    const came = (measured[index] ?? 0) - (measured[index - 1] ?? 0)
    missing = Math.max(0, missing + NEUTRAL_SHARE * usual - came)
    if (missing >= KNOWN_LOW * burst) {
      missing = RETURNED * burst
      end(from[index] ?? to)
      low = from[index - 1] ?? to
    } else if (missing === 0 && low <= to) isBack = true
  }
  end(to)
  return recovered
}

/** Whether fewer events than expected came since a time, if enough were expected for that to show. */
export function isLowSince({ from, measured, expected }: Course, time: number, burst: number): boolean {
  const index = from.findLastIndex((start) => start >= time)
  const usual = expected[index] ?? 0
  return usual >= BURSTS_FOR_LEVEL * burst && (measured[index] ?? 0) / usual < NEUTRAL_SHARE
}

function isLowAllDay(stretches: readonly Stretch[], to: number, burst: number): boolean {
  const ends = Array.from({ length: PARTS_OF_DAY }, (_, part) =>
    // The oldest bucket may begin slightly less than a day ago.
    part === PARTS_OF_DAY - 1
      ? (stretches.find(({ from }) => from <= to - DAY) ?? stretches.at(-1))
      : stretches.find(({ from }) => from <= to - ((part + 1) * DAY) / PARTS_OF_DAY),
  )
  return ends.every((end, part) => {
    if (end === undefined) return false
    const newer = ends[part - 1] ?? { from: to, measured: 0, expected: 0 }
    const usual = end.expected - newer.expected
    return usual < burst || (end.measured - newer.measured) / usual < NEUTRAL_SHARE
  })
}

/**
 * Compares the levels right before and right after, over as long as it takes to measure them. A level too noisy to measure did not provably break
 * off.
 */
function brokeOff(stretches: readonly Stretch[], start: Stretch, to: number, burst: number, steady: number): boolean {
  const tells = (longer: Stretch, shorter: Stretch): boolean =>
    longer.from <= shorter.from - HOUR && longer.expected - shorter.expected >= BURSTS_FOR_LEVEL * burst
  const before = stretches.find(
    (one) => one.from <= start.from && (tells(one, start) || start.from - one.from >= LONGEST_LEVEL),
  )
  const rest = stretches.findLast((one) => one.from >= start.from && tells(start, one))
  const after = rest ?? { from: to, measured: 0, expected: 0 }
  const last = before ?? stretches.at(-1) ?? start
  const [usual, had] = [last.expected - start.expected, last.measured - start.measured]
  const level = levelGiven(had, usual, burst, LEVEL_NOISE)
  const hasSunk = to - start.from >= SINKS_FOR && after.expected > 0
  const lowest = hasSunk ? Math.min(1, after.measured / after.expected) : LOWEST
  // As much lower as an even sinking would make it, from the middle of one stretch to the middle of the other.
  const sinks = ((1 - lowest) * (after.from - last.from)) / 2 / SINKS_FOR
  const chance = logLowerTail(start.measured - after.measured, {
    mean: Math.max(0, level - sinks) * (start.expected - after.expected),
    burst,
    noise: Math.max(LEAST_STEADY_NOISE, steady) + 1 / (1 / LEVEL_NOISE + usual / burst),
  })
  return chance < SURELY_SUDDEN
}
