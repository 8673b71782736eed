import { HOUR, MINUTE } from '../lib/index.ts'
import type { Bursts } from './bursts-now.ts'
import type { Noise } from './count-noise.ts'
import { logLimit } from './false-alarms.ts'
import { type CountModel, deviation, logLowerTail, logUpperTail } from './negative-binomial.ts'
import { type Band, leastPassing, mostPassing } from './passing.ts'
import { levelBefore } from './silence.ts'
import type { UsualCount } from './usual-counts.ts'
import { type Course, NEARLY, shapeNoise } from './volume-counts.ts'

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
/** In the first window in which a fall to this share would show, a site is known to be as usual. */
const TELLING_SHARE = 1 / 3
/** Where the others come so many times as often as usual, they may be of a campaign or bots, of whom an event is rarer than of all others. */
const MANY_OTHERS = 1.25

/** In its first week both the hours before and the clock have to speak for a site's fall. */
export const isYoung = ({ doubt }: Noise): boolean => doubt > YOUNG

const YOUNG = 0.02

/** Looks for too few or too many in ever longer windows. Null where even the longest tells nothing. */
export function judgeWindows(
  course: Course,
  spread: Pick<UsualCount, 'noise' | 'alone'>,
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
    const limit = logLimit(limits.budget, length)
    const { level, near, slow, spike } = modelsOf(course, index, length, spread, bursts, isSite)
    const isLow = measured > 0 && measured < limits.ratio * Math.max(near.mean, slow.mean)
    // Tails are most of what a run costs.
    if (isLow) {
      const isNew = isYoung(spread.noise)
      const { model, chance } =
        isSite && !isNew
          ? rarer(measured, length < SLOW ? [near] : [near, slow])
          : // A site may begin with a campaign, too.
            likelier(measured, isNew || areMany(course, index) ? [near, slow] : [near])
      const isFall =
        chance < limit && measured < limits.ratio * model.mean && isBeyond(model.mean - measured, model, limits.z)
      if (isFall && isStill(course, index, bursts.burst, model === slow ? 1 : level)) {
        return { kind: 'fall', index, measured, model, chance, limit }
      }
    }
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

const areMany = ({ byClock, byOthers }: Course, index: number): boolean =>
  (byOthers[index] ?? 0) > MANY_OTHERS * (byClock[index] ?? 0)

/** How the counts of a window are distributed while nothing is wrong. */
interface WindowModels {
  /** Of the hours before, no higher than usual. */
  readonly level: number
  /** Going by that level, and by the clock alone. */
  readonly near: CountModel
  readonly slow: CountModel
  /** What a spike rises above. */
  readonly spike: CountModel
}

function modelsOf(
  course: Course,
  index: number,
  length: number,
  { noise, alone }: Pick<UsualCount, 'noise' | 'alone'>,
  bursts: Bursts,
  isSite: boolean,
): WindowModels {
  const [expected, byClock] = [course.expected[index] ?? 0, course.byClock[index] ?? 0]
  const burst = bursts.short + (bursts.burst - bursts.short) * Math.min(1, length / WHOLE_BURST)
  const before = isSite ? levelBefore(course, index, noise, length) : { level: 1, noise: noise.level(length) }
  const shape = shapeNoise(course, index, length)
  // The others rise and fall within the hour like the event that they are compared with.
  const shared = isSite ? shape : 0
  return {
    level: before.level,
    near: inBursts({ mean: before.level * expected, burst, noise: before.noise + shared }),
    slow: inBursts({ mean: byClock, burst, noise: alone.level(length) + shape }),
    spike: { mean: expected, burst, noise: noise.level(length) + shared },
  }
}

/** Events that a visit may well bring. */
const LONG_VISIT = 20

/**
 * The same mean and variance, with as much of it due to bursts as visits may explain: few counts cannot tell bursts from a level that
 * wavers, and of few visits it is likelier that hardly any comes.
 */
function inBursts({ mean, burst, noise }: CountModel): CountModel {
  const more = Math.min(noise * mean, Math.max(0, LONG_VISIT - burst))
  return mean > 0 ? { mean, burst: burst + more, noise: noise - more / mean } : { mean, burst, noise }
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

const isBeyond = (off: number, model: CountModel, z: number): boolean => off >= z * deviation(model)

/** So sure that a level came back that it is wrong once in six times (Ville 1939): what begins low again is found again. */
const RECOVERED = Math.log(6)
/** What came back is at this share of the usual level, or more; a fall to less than the other is taken for one to it. */
const BACK_AT = 0.9
const LOWEST_FALL = 0.05

/**
 * Whether the newest part of a window is low like the rest of it: what is over is no alarm any more. It is over once some part speaks for the
 * usual level against that of the window (likelihood ratio of Poisson numbers, in bursts), as long as all that came since its
 * beginning does so rather than not: or it would begin again as soon as a little less came.
 *
 * @param level of the hours before the window
 */
function isStill(course: Course, index: number, burst: number, level: number): boolean {
  const { measured, byClock, expected } = course
  const usualAt = (at: number) => BACK_AT * level * Math.min(expected[at] ?? 0, byClock[at] ?? 0)
  const usual = usualAt(index)
  const ratio = Math.max(LOWEST_FALL, (measured[index] ?? 0) / usual)
  if (ratio >= 1) return false
  let least = 0
  for (let newest = 0; newest < index; newest++) {
    const support = (measured[newest] ?? 0) * Math.log(1 / ratio) - usualAt(newest) * (1 - ratio)
    if (support > 0 && support - least > RECOVERED * burst) return false
    least = Math.min(least, support)
  }
  return true
}

/**
 * The counts of a site's newest bucket that pass, whatever came in it, going by the shortest window that ends with it: the other buckets of
 * that window stay as they are. Null where it is compared with nothing.
 */
export function passingNewest(
  course: Course,
  usual: Pick<UsualCount, 'noise' | 'alone'>,
  bursts: Bursts,
  { budget, ratio, z }: FallLimits,
): Band | null {
  const [shortest = 0] = WINDOWS
  const index = course.covered.findIndex((covered) => covered >= shortest * NEARLY)
  // One long bucket is several windows, and the longest allows for the least.
  const length = WINDOWS.findLast((one) => one * NEARLY <= (course.covered[index] ?? 0))
  if (length === undefined || (course.from[index] ?? 0) < course.specialUntil) return null
  const { near, slow, spike } = modelsOf(course, index, length, usual, bursts, true)
  const limit = logLimit(budget, length)
  const isNew = isYoung(usual.noise)
  const lows = (length < SLOW && !isNew ? [near] : [near, slow]).map((model) =>
    Math.min(leastPassing(model, limit, ratio), model.mean - z * deviation(model)),
  )
  const low = isNew ? Math.min(...lows) : Math.max(...lows)
  const high = Math.max(mostPassing(spike, limit, ratio), spike.mean + z * deviation(spike))
  const others = (course.measured[index] ?? 0) - (course.measured[0] ?? 0)
  return { low: Math.max(0, low - others), high: Math.max(0, high - others) }
}
