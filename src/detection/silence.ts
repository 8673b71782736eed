import { DAY, HOUR, MINUTE } from '../lib/index.ts'
import type { Bursts } from './bursts-now.ts'
import { HOURS_BEFORE, levelGiven, type Noise } from './count-noise.ts'
import { MONTH } from './false-alarms.ts'
import { type Course, shapeNoise } from './volume-counts.ts'

/** A stretch up to now in which nothing of a subject came. */
export interface Silence {
  /** Its beginning, to the minute if it began recently. */
  readonly from: number
  /** Its length without our own outages, ms. */
  readonly covered: number
  /** Events expected in it at the level of the hours before. */
  readonly expected: number
  /** That level as a share of the usual one, at most 1: on a quiet day, longer silences are chance. */
  readonly level: number
  /** Visits or batches expected in it. */
  readonly visits: number
  /** Natural logarithm of the chance of such a silence while nothing is wrong … */
  readonly chance: number
  /** … and of the largest chance that is unusual. */
  readonly limit: number
}

/** Counts may lag two minutes behind what came. */
export const LEAST_SILENCE = 3 * MINUTE
/** Senders that collect events for minutes have regular gaps; the next one may be this much longer. */
const GAPS = 1.25
/** With a run every five minutes, no more silences than this are tested in a month. */
const RUNS_A_MONTH = MONTH / (5 * MINUTE)

/**
 * Returns how surprising it is that nothing came recently; null when something came, or when nothing is known.
 *
 * Visits come independently at a varying level (gamma with relative variance v): none of n comes with probability (1 +
 * v·n)^(−1/v), the negative binomial distribution at zero.
 *
 * @param course by the minute
 * @param longestGap between the events of the last half hour, ms
 * @param budget false alarms a month
 */
export function silenceOf(
  course: Course,
  longestGap: number,
  noise: Noise,
  { group }: Bursts,
  budget: number,
): Silence | null {
  const first = course.measured.findIndex((count) => count > 0)
  const index = (first === -1 ? course.measured.length : first) - 1
  const [covered, usual, from] = [course.covered[index], course.expected[index], course.from[index]]
  if (covered === undefined || usual === undefined || from === undefined) return null
  if (covered < LEAST_SILENCE || covered <= GAPS * longestGap) return null
  const before = levelBefore(course, index, noise, covered)
  const wavers = from < course.specialUntil ? SPECIAL_NOISE : Math.min(before.noise, noise.ofSilence(covered))
  const expected = before.level * usual
  const visits = expected / group
  return {
    from,
    covered,
    expected,
    level: before.level,
    visits,
    chance: noneOf(visits, wavers + shapeNoise(course, index, covered)),
    limit: silenceLimit(visits, covered, budget),
  }
}

/** After several silences, the newest one is over once this many visits were expected after it … */
const VISITS_AFTER = 3
/** … and this share of them came. */
const BACK_AFTER = 0.5

/**
 * Returns when the newest unusual silence ended; null when there was none or it is not over. It had its own alert, so what follows is judged
 * separately. A site that loses almost everything still has an event now and then: if there was another silence before, the newest is over only once
 * enough came.
 */
export function lastSilenceEnded(
  course: Course,
  noise: Noise,
  { group }: Bursts,
  limits: SilenceLimits,
): number | null {
  const { covered, expected, measured, from } = course
  const countAt = (index: number) => (measured[index] ?? 0) - (measured[index - 1] ?? 0)
  /** Indexes of the buckets in which something came again, newest first. */
  const ends: number[] = []
  for (let newest = 1; newest < from.length; newest++) {
    if (countAt(newest) > 0 || countAt(newest - 1) === 0) continue
    let oldest = newest
    while (oldest + 1 < from.length && countAt(oldest + 1) === 0) oldest++
    const end = newest - 1
    const length = (covered[oldest] ?? 0) - (covered[end] ?? 0)
    const visits = ((expected[oldest] ?? 0) - (expected[end] ?? 0)) / group
    const isUnusual = noneOf(visits, noise.ofSilence(length)) < silenceLimit(visits, length, limits.silenceBudget)
    if (isUnusual && visits >= limits.minVisits) ends.push(end)
    newest = oldest
  }
  const [newest, ...others] = ends
  if (newest === undefined) return null
  const [came, usual] = [measured[newest] ?? 0, expected[newest] ?? 0]
  const isBack = others.length === 0 || (usual >= VISITS_AFTER * group && came >= BACK_AFTER * usual)
  return isBack ? (from[newest] ?? null) : null
}

/** Natural logarithm of the chance that none of the visits comes, at a varying level. */
const noneOf = (visits: number, noise: number): number => -Math.log1p(noise * visits) / noise

/** Natural logarithm of the chance below which a silence is unusual. A month has as many silences as visits, or as runs if those are fewer. */
function silenceLimit(visits: number, length: number, budget: number): number {
  const begun = Math.min(RUNS_A_MONTH, (visits / length) * MONTH)
  return Math.log(budget / Math.max(1, begun))
}

/** When the absence of all events is bad. */
export interface SilenceLimits {
  /** False alarms a month. */
  readonly silenceBudget: number
  /** Visits that must be usual for their absence to be bad. */
  readonly minVisits: number
}

/**
 * Returns how many visits must be usual in a stretch for their absence to be bad.
 *
 * @param noise relative variance of the level
 * @param length of the stretch, ms
 */
export function visitsToTell(noise: number, length: number, { silenceBudget, minVisits }: SilenceLimits): number {
  let visits = 1
  // The limit depends on the number of visits, because more visits mean more silences; this converges within a few steps.
  for (let step = 0; step < 5; step++) visits = Math.expm1(-noise * silenceLimit(visits, length, silenceBudget)) / noise
  return Math.max(minVisits, visits)
}

/** Relative variance of the level on holidays and marked days. */
export const SPECIAL_NOISE = 0.3

/** The level of the hours before a window, at most the usual one, and its relative variance given these hours. */
export function levelBefore(
  course: Course,
  index: number,
  noise: Noise,
  length: number,
): { level: number; noise: number } {
  const { level, doubt } = levelOfHoursBefore(course, index, noise)
  return { level: Math.min(1, level), noise: Math.min(noise.level(length), noise.steady(length) + doubt) }
}

/**
 * The level of the hours before a window, and the relative variance of that estimate.
 *
 * @param index of the window in the course; −1: the course ends where the window begins
 */
export function levelOfHoursBefore(course: Course, index: number, noise: Noise): { level: number; doubt: number } {
  const end = Math.max(course.specialUntil, (course.from[index] ?? course.to) - HOURS_BEFORE * HOUR)
  let start = index
  while (start + 1 < course.from.length && (course.from[start + 1] ?? 0) >= end) start++
  const measured = (course.measured[start] ?? 0) - (course.measured[index] ?? 0)
  const expected = (course.expected[start] ?? 0) - (course.expected[index] ?? 0)
  const daily = noise.level(DAY)
  return {
    level: levelGiven(measured, expected, noise.burst, daily),
    doubt: 1 / (1 / daily + expected / noise.burst),
  }
}
