import { DAY, HOUR, MINUTE } from '../lib/index.ts'
import type { Bursts } from './bursts-now.ts'
import type { Noise } from './count-noise.ts'
import { logLimit } from './false-alarms.ts'
import { type CountModel, deviation, logLowerTail, logUpperTail } from './negative-binomial.ts'
import { type Band, leastPassing, mostPassing } from './passing.ts'
import { levelBefore } from './silence.ts'
import type { UsualCount } from './usual-counts.ts'
import { type Course, NEARLY, shapeNoise } from './volume-counts.ts'

/** The judgement by the newest window that is long enough. */
export interface WindowVerdict {
  readonly kind: 'fall' | 'spike' | 'usual'
  /** Index of the window in the course. */
  readonly index: number
  readonly measured: number
  /** Distribution of such counts while nothing is wrong. */
  readonly model: CountModel
  /** Natural logarithms: of the chance of so few (for a spike, so many), and of the largest chance that is unusual. */
  readonly chance: number
  readonly limit: number
}

export interface FallLimits {
  /** False alarms a month for this subject. */
  readonly budget: number
  /** Less than this share of the expectation (for a spike, more than its inverse) is bad if chance does not explain it … */
  readonly ratio: number
  /** … and it is this many standard deviations off. */
  readonly z: number
}

/** Lengths of the windows, all of which end now. */
const WINDOWS = [5, 10, 20, 30, 60, 120, 240, 480, 960, 1_440].map((minutes) => minutes * MINUTE)
/** From this length on, a window is also compared with the clock alone: the hours before may have sunk with a site that sinks slowly. */
const SLOW = 4 * HOUR
/** Length from which on a window has the burst of hours. */
const WHOLE_BURST = HOUR
/** The first window in which a fall to this share would show proves that a site is as usual. */
const TELLING_SHARE = 1 / 3
/** From this factor on, the other events may come from a campaign or bots, with whom an event is rarer than among all others. */
const MANY_OTHERS = 1.25

/** In a site's first week, a fall counts only if both the hours before and the clock show it. */
export const isYoung = ({ doubt }: Noise): boolean => doubt > YOUNG

const YOUNG = 0.02

/** Looks for too few or too many events in ever longer windows. Null when even the longest is too short. */
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
    // How many people visit a site on a holiday is unknown.
    if (index === -1 || (isSite && (course.from[index] ?? 0) < course.specialUntil)) break
    const measured = course.measured[index] ?? 0
    const expected = course.expected[index] ?? 0
    const limit = logLimit(limits.budget, length)
    const { level, near, slow, spike } = modelsOf(course, index, length, spread, bursts, isSite)
    const isLow = measured > 0 && measured < limits.ratio * Math.max(near.mean, slow.mean)
    // Tails are most of the cost of a run.
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

/** Weeks without any prove no less than one visit in as long a time; of a mean of zero, a single event would be a spike. */
const NONE_IN = 28 * DAY

/** The distributions of a window's count while nothing is wrong. */
interface WindowModels {
  /** Level of the hours before, at most the usual one. */
  readonly level: number
  /** By that level, and by the clock alone. */
  readonly near: CountModel
  readonly slow: CountModel
  /** The model that a spike must exceed. */
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
  // The other events change within the hour in the same way as the event compared with them.
  const shared = isSite ? shape : 0
  return {
    level: before.level,
    near: inBursts({ mean: before.level * expected, burst, noise: before.noise + shared }),
    slow: inBursts({ mean: byClock, burst, noise: alone.level(length) + shape }),
    spike: { mean: Math.max(expected, (burst * length) / NONE_IN), burst, noise: noise.level(length) + shared },
  }
}

/** Number of events that one visit may well bring. */
const LONG_VISIT = 20

/**
 * Returns a model with the same mean and variance, but as much of the variance from bursts as visits may explain. Few counts
 * cannot distinguish bursts from a varying level, and with few visits, hardly any events are likelier.
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

/** Certainty that a level is back: wrong once in six times (Ville 1939). If it begins low again, it is found again. */
const RECOVERED = Math.log(6)
/** A level is back at this share of the usual one. A fall to less than `LOWEST_FALL` counts as one to it. */
const BACK_AT = 0.9
const LOWEST_FALL = 0.05

/**
 * Whether the newest part of a window is still low, because a fall that is over is no alarm any more. It is over once some part supports
 * the usual level against that of the window (likelihood ratio of Poisson numbers, in bursts), as long as everything since the beginning
 * of that part supports it on balance. Otherwise the fall would begin again as soon as slightly less came.
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
 * Returns the counts of a site's newest bucket that pass, by the shortest window that ends with it; the window's other
 * buckets stay as they are. Null when it is compared with nothing.
 */
export function passingNewest(
  course: Course,
  usual: Pick<UsualCount, 'noise' | 'alone'>,
  bursts: Bursts,
  { budget, ratio, z }: FallLimits,
): Band | null {
  const [shortest = 0] = WINDOWS
  const index = course.covered.findIndex((covered) => covered >= shortest * NEARLY)
  // One long bucket covers several window lengths, and the longest allows the least.
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
