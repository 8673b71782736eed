import { HOUR, MINUTE } from '../lib/index.ts'
import type { Bursts } from './bursts-now.ts'
import { logLimit } from './false-alarms.ts'
import { type CountModel, logLowerTail, logUpperTail } from './negative-binomial.ts'
import { levelBefore } from './silence.ts'
import type { UsualCount } from './usual-counts.ts'
import type { Course } from './volume-counts.ts'

/** What the newest window that tells something says of a subject. */
export interface WindowVerdict {
  readonly kind: 'fall' | 'spike' | 'usual'
  /** Of the window in the course. */
  readonly index: number
  readonly measured: number
  /** How such counts are distributed while nothing is wrong. */
  readonly model: CountModel
  /** Natural logarithm of the chance of so few (of a spike, so many), and of the greatest that is unusual. */
  readonly chance: number
  readonly limit: number
}

/** What the user accepts. */
export interface FallLimits {
  /** False alarms a month of this subject. */
  readonly budget: number
  /** Less than this share of what is expected (of a spike, more than its inverse) is bad, if chance does not explain it … */
  readonly ratio: number
  /** … and it is so many standard deviations off. */
  readonly z: number
}

/** Lengths of the windows, all of which end now. */
const WINDOWS = [5, 10, 20, 30, 60, 120, 240, 480, 960, 1_440].map((minutes) => minutes * MINUTE)
/** Where a window as long as this is no better than the hours before it, it is compared with the clock alone: a site may sink slowly. */
const SLOW = 4 * HOUR
/** How long a window has to be until the burst of hours is the burst of it. */
const WHOLE_BURST = HOUR
/** Buckets that are left out make a window a bit shorter than it should be. */
const NEARLY = 0.99
/** In the first window in which a fall to this share would show, a site is known to be as usual. */
const TELLING_SHARE = 1 / 3
/** More often than by the clock, an event is not compared with the others. */
const AS_BY_CLOCK = 1.02

/** Of a site in its first week both the hours before and the clock have to speak for a fall. */
const YOUNG = 0.02

/** Looks for too few or too many in ever longer windows. Null where even the longest tells nothing. */
export function judgeWindows(
  course: Course,
  { noise, alone }: Pick<UsualCount, 'noise' | 'alone'>,
  bursts: Bursts,
  isSite: boolean,
  limits: FallLimits,
): WindowVerdict | null {
  let usual: WindowVerdict | null = null
  for (const length of WINDOWS) {
    const index = course.covered.findIndex((covered) => covered >= length * NEARLY)
    // Nobody knows how many come to a site on a holiday.
    if (index === -1 || (isSite && (course.from[index] ?? 0) < course.specialUntil)) break
    const measured = course.measured[index] ?? 0
    const expected = course.expected[index] ?? 0
    const byClock = course.byClock[index] ?? 0
    const limit = logLimit(limits.budget, length)
    const burst = bursts.short + (bursts.burst - bursts.short) * Math.min(1, length / WHOLE_BURST)
    const before = isSite ? levelBefore(course, index, noise, length) : { level: 1, noise: noise.level(length) }
    const near = { mean: before.level * expected, burst, noise: before.noise }
    const slow = { mean: byClock, burst, noise: alone.level(length) }
    const isLow = measured > 0 && measured < limits.ratio * Math.max(near.mean, slow.mean)
    // Tails are most of what a run costs.
    if (isLow) {
      const isYoung = noise.doubt > YOUNG
      const { model, chance } =
        isSite && !isYoung
          ? rarer(measured, length < SLOW ? [near] : [near, slow])
          : // One that seems rare among many others may be as usual while a campaign or bots bring those. A site may begin with a campaign.
            likelier(measured, isYoung || byClock <= AS_BY_CLOCK * expected ? [near, slow] : [near])
      const isFall =
        chance < limit && measured < limits.ratio * model.mean && isBeyond(model.mean - measured, model, limits.z)
      if (isFall && isStill(course, index, burst, model === slow ? 1 : before.level)) {
        return { kind: 'fall', index, measured, model, chance, limit }
      }
    }
    const spike = { mean: expected, burst, noise: noise.level(length) }
    if (measured > expected / limits.ratio && isBeyond(measured - expected, spike, limits.z)) {
      const chance = logUpperTail(measured, spike)
      if (chance < limit) return { kind: 'spike', index, measured, model: spike, chance, limit }
    }
    if (usual === null && logLowerTail(TELLING_SHARE * near.mean, near) < limit) {
      usual = { kind: 'usual', index, measured, model: near, chance: logLowerTail(measured, near), limit }
    }
  }
  return usual
}

interface Judged {
  readonly model: CountModel
  readonly chance: number
}

/** The model under which so few are least likely. */
const rarer = (measured: number, models: readonly CountModel[]): Judged =>
  judged(measured, models).reduce((best, one) => (one.chance < best.chance ? one : best))

/** The model under which so few are most likely. */
const likelier = (measured: number, models: readonly CountModel[]): Judged =>
  judged(measured, models).reduce((best, one) => (one.chance > best.chance ? one : best))

const judged = (measured: number, models: readonly CountModel[]): Judged[] =>
  models.map((model) => ({ model, chance: logLowerTail(measured, model) }))

const isBeyond = (off: number, { mean, burst, noise }: CountModel, z: number): boolean =>
  off >= z * Math.sqrt(burst * mean + noise * mean * mean)

/** So sure that a level came back that it is wrong once in twenty times. */
const RECOVERED = Math.log(20)
/** What came back is at this share of the usual level, or more; a fall to less than the other is taken for one to it. */
const BACK_AT = 0.9
const LOWEST_FALL = 0.05

/**
 * Whether the newest part of a window is low like the rest of it: what is over is no alarm any more. It is over once some newest part
 * speaks for the usual level against that of the window (likelihood ratio of Poisson numbers, in bursts).
 *
 * @param level of the hours before the window
 */
function isStill(course: Course, index: number, burst: number, level: number): boolean {
  const { measured, byClock, expected } = course
  const usualAt = (at: number) => BACK_AT * level * Math.min(expected[at] ?? 0, byClock[at] ?? 0)
  const usual = usualAt(index)
  const ratio = Math.max(LOWEST_FALL, (measured[index] ?? 0) / usual)
  if (ratio >= 1) return false
  for (let newest = 0; newest < index; newest++) {
    const support = (measured[newest] ?? 0) * Math.log(1 / ratio) - usualAt(newest) * (1 - ratio)
    if (support > RECOVERED * burst) return false
  }
  return true
}

/**
 * The counts that pass: outside these a window would be a fall or a spike.
 *
 * @param model not of the spike itself, but of what is usual
 */
export function passing(
  { model, limit }: Pick<WindowVerdict, 'model' | 'limit'>,
  { ratio }: Pick<FallLimits, 'ratio'>,
): { low: number; high: number } {
  const { mean } = model
  return {
    low: Math.min(
      ratio * mean,
      edge(0, mean, (count) => logLowerTail(count, model) < limit),
    ),
    high: Math.max(
      mean / ratio,
      edge(mean, MOST_ABOVE * mean, (count) => logUpperTail(count, model) >= limit),
    ),
  }
}

const MOST_ABOVE = 20
const HALVINGS = 20

/** Where between two counts a condition that holds at the lower ends. */
function edge(from: number, to: number, holds: (count: number) => boolean): number {
  let [low, high] = [from, to]
  if (!holds(low)) return low
  for (let step = 0; step < HALVINGS; step++) {
    const middle = (low + high) / 2
    if (holds(middle)) low = middle
    else high = middle
  }
  return high
}
