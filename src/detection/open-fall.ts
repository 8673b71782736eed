import { floorTo, HOUR } from '../lib/index.ts'
import { logLimit } from './false-alarms.ts'
import { logLowerTail } from './negative-binomial.ts'
import { clamp, sum } from './statistics.ts'
import { HOURS_A_WEEK } from './time.ts'
import type { UsualCount, UsualCounts } from './usual-counts.ts'
import { isBad, type Verdict } from './verdict.ts'
import { type Course, shapeNoise } from './volume-counts.ts'
import type { FallLimits, WindowVerdict } from './volume-fall.ts'

/** A fall that the last run found. */
export interface OpenFall {
  readonly since: number
  /** How much feedback had widened what passes: people who call it no problem end it. */
  readonly widening: number
  /** For the site: events of an average hour that were usual when it was found. A fall of weeks is learnt in part. */
  readonly hourly?: number | null
}

/** By event; null for the site. */
export type OpenFalls = ReadonlyMap<string | null, OpenFall>

/**
 * Returns the falls that the next run keeps until the counts say that they are over.
 *
 * @param before those that were open before this run: a silence within a fall does not end it
 * @param usual what this run compared with
 */
export function openFalls({ details }: Verdict, before: OpenFalls, usual: UsualCounts): OpenFalls {
  const open = new Map<string | null, OpenFall>()
  for (const finding of details.findings) {
    const { subject, since, evidence } = finding
    if (!isBad(finding) || since === null) continue
    const name = subject.event_name ?? null
    const earlier = before.get(name)
    const fall = () => ({
      since: Date.parse(since),
      widening: wideningIn(evidence.widening),
      ...(name === null ? { hourly: earlier?.hourly ?? hourlyOf(usual.of(null), Date.parse(since)) } : {}),
    })
    const known = evidence.kind === 'fall' ? fall() : evidence.kind === 'zero' ? earlier : undefined
    if (known !== undefined) open.set(name, known)
  }
  return open
}

const wideningIn = (widening: unknown): number => (typeof widening === 'number' ? widening : 1)

/** The mean of the week that begins then. */
export function hourlyOf({ expectedIn }: Pick<UsualCount, 'expectedIn'>, time: number): number {
  const week = Array.from({ length: HOURS_A_WEEK }, (_, hour) => expectedIn(floorTo(time, HOUR) + hour * HOUR))
  const known = week.filter((expected) => !Number.isNaN(expected))
  return sum(known) / Math.max(1, known.length)
}

/** How much more was usual before a fall than is now, because some of its own hours were learnt. */
function learntSince(hourly: number | null, usual: Pick<UsualCount, 'expectedIn'>, now: number): number {
  if (hourly === null) return 1
  const today = hourlyOf(usual, now)
  return today > 0 ? Math.max(1, hourly / today) : 1
}

/** A level is back at this share of the usual one. */
export const BACK_AT = 0.9
/** A fall to less than this share of the usual level counts as one to it. */
const LOWEST = 0.05
/** How many bursts the smallest loss that is a fall weighs as much as, against the counts from its beginning. */
const PRIOR_BURSTS = 5
/** Levels that vary more could never show that it is over. After weeks with a fault in them, they seem to. */
const MOST_NOISE = 0.02
/** Odds at which a newest part of a fall shows that it is over. */
const OVER = Math.log(60)
/** A shorter part of the fall is too little to show it: one of many quarters of an hour is high by chance, most of all at night. */
const LEAST_PART = 1 / 16

/**
 * Judges a fall that an earlier run found. It lasts until some newest part speaks for the usual level against that of the part before it (likelihood
 * ratio of negative binomial numbers in bursts). Null when it is over.
 *
 * @param course up to a day of the subject
 */
export function keptFall(
  course: Course,
  { since, widening, hourly = null }: OpenFall,
  usual: Pick<UsualCount, 'noise' | 'widening' | 'expectedIn'>,
  burst: number,
  isSite: boolean,
  limits: FallLimits,
): WindowVerdict | null {
  const { noise } = usual
  const { from, measured, covered } = course
  // What a special day brings is unknown, and people who call a fall no problem do not want it kept.
  if (usual.widening > widening || (isSite && course.specialUntil > since)) return null
  const more = learntSince(hourly, usual, course.to)
  const expected = course.expected.map((count) => more * count)
  const index = from.findLastIndex((start) => start >= since)
  const [came, mean, length] = [measured[index], expected[index], covered[index]]
  if (came === undefined || mean === undefined || length === undefined) return null
  const shape = (part: number, time: number) => (isSite ? shapeNoise(course, part, time) : 0)
  const clearlyBack = (BACK_AT + limits.ratio) / 2
  const isOver = measured.slice(0, index).some((newest, part) => {
    const [usually, time] = [expected[part] ?? 0, covered[part] ?? 0]
    // Half of what is usual speaks against a fifth, but is not back.
    if (usually < LEAST_PART * mean || newest < clearlyBack * usually) return false
    const before = (came - newest + limits.ratio * PRIOR_BURSTS * burst) / (mean - usually + PRIOR_BURSTS * burst)
    const lost = clamp(before, LOWEST, limits.ratio) * usually
    const back = BACK_AT * usually
    return (
      logOdds(
        newest / burst,
        back / burst,
        lost / burst,
        Math.min(MOST_NOISE, noise.steady(time)) + shape(part, time),
      ) > OVER
    )
  })
  if (isOver) return null
  const model = { mean, burst, noise: noise.level(length) + shape(index, length) }
  const limit = logLimit(limits.budget, length)
  return { kind: 'fall', index, measured: came, model, chance: logLowerTail(came, model), limit }
}

/** How strongly a Poisson number speaks for one mean against another, if the level is a gamma number of this relative variance. */
const logOdds = (count: number, mean: number, other: number, noise: number): number =>
  count * Math.log(mean / other) - (count + 1 / noise) * Math.log((1 + noise * mean) / (1 + noise * other))
